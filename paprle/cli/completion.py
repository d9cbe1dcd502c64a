"""Verb ``completion``: prints a shell's script."""

from __future__ import annotations

import argparse
import enum
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from paprle.cli import app
from paprle.cli.completion_words import COMPLETE, PARTS, find_index
from paprle.cli.verb import Verb, say
from paprle.config.files import PLUGIN_KINDS, known_names
from paprle.config.folders import Folders, find_folders
from paprle.config.resolve import find_classes
from paprle.config.yaml_text import read_yaml
from paprle.contracts.errors import PaprleError
from paprle.contracts.kit.extensions import load_verbs
from paprle.contracts.validation.fields import FieldInfo, read_fields
from paprle.plugins import list_names

SCRIPTS = {
    "bash": """\
_paprle() {
  local line=${COMP_LINE:0:COMP_POINT} words word found before=
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  word=${words[${#words[@]} - 1]}
  # where = and : part words, bash replaces what follows the last of them
  [[ $COMP_WORDBREAKS == *=* ]] && before=${word%"${word##*[=:]}"}
  COMPREPLY=()
  while read -r found; do
    [[ $found ]] && COMPREPLY+=("${found#"$before"}")
  done < <(paprle __complete "${words[@]:1}" 2> /dev/null)
  [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=.] ]] && compopt -o nospace
}
complete -o default -F _paprle paprle
""",
    "zsh": """\
#compdef paprle
_paprle() {
  local -a found
  found=("${(@f)$(paprle __complete "${(@)words[2,CURRENT]}" 2> /dev/null)}")
  found=(${found:#})
  if (( ! $#found )); then
    compset -P '*='
    _files
    return
  fi
  compadd -Q -S '' -- ${(M)found:#*[=.]}
  compadd -Q -- ${found:#*[=.]}
}
compdef _paprle paprle
# at the first Tab zsh runs this file in place of the function
if [[ $funcstack[1] == _paprle ]]; then
  _paprle "$@"
fi
""",
    "fish": """\
function __paprle
    set -l words (commandline -opc) (commandline -ct)
    set -l found (paprle __complete $words[2..] 2> /dev/null | string match -r '.+')
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c paprle -f -a '(__paprle)'
""",
}
"""Scripts by shell; each asks ``paprle __complete``."""

_DEPTH = 4  # chosen: of keys, no settings class is deeper


def make_index() -> dict[str, Any]:
    """Return the index of verbs, names and keys."""
    folders = find_folders()
    keys = {"": _list_keys(find_classes({}, None, []))}
    for part, kind in PLUGIN_KINDS.items():
        for name in list_names(kind):
            leaders = {part: name} if part == "leader" else {}
            try:
                classes = find_classes(leaders, name if part == "env" else None, [])
            except Exception:  # noqa: BLE001 - a stranger's code may raise anything
                continue
            if part in classes:
                keys[f"{part}:{name}"] = _list_keys({part: classes[part]})
    return {
        "verbs": _list_verbs(),
        "folders": [str(folder.path) for folder in folders.folders],
        "plugins": {part: list_names(kind) for part, kind in PLUGIN_KINDS.items()},
        "types": {part: _list_types(part, folders) for part in PARTS},
        "keys": keys,
    }


def write_index() -> Path:
    """Write the index atomically; return its path."""
    path = find_index()
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}")
    part.write_text(json.dumps(make_index()), "utf-8")
    return part.replace(path)


def _list_verbs() -> dict[str, Any]:
    tables = [app.VERBS, *load_verbs().values()]
    found: dict[str, Any] = {}
    for name in (name for table in tables for name in table):
        try:
            parser = app.find_verb(name).make_parser()
        except (ImportError, PaprleError):
            continue
        actions = parser._actions  # noqa: SLF001 - argparse has no other list
        found[name] = {
            "options": [word for one in actions for word in one.option_strings],
            "words": [
                str(word)
                for one in actions
                if not one.option_strings
                for word in one.choices or ()
            ],
            "has_settings": any(one.dest == "settings" for one in actions),
        }
    return found


def _list_types(part: str, folders: Folders) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in known_names(part, folders) if part in PLUGIN_KINDS else ():
        for _, label, path in folders.list_yamls({part: name}):
            values = read_yaml(path, label, []) or {}
            found |= {name: str(values["type"])} if "type" in values else {}
    return found


def _list_keys(classes: Mapping[str, Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for section, cls in classes.items():
        _add_keys(section, cls, found, _DEPTH)
    return found


def _add_keys(section: str, cls: Any, found: dict[str, list[str]], depth: int) -> None:
    for name, info in read_fields(cls).items():
        key = f"{section}.{name}"
        if info.settings is None:
            found[key] = _list_values(info)
        elif depth:
            _add_keys(key, info.settings, found, depth - 1)


def _list_values(info: FieldInfo) -> list[str]:
    if info.hint is bool:
        return ["true", "false"]
    if get_origin(info.hint) is Literal:
        return [str(value) for value in get_args(info.hint)]
    if isinstance(info.hint, type) and issubclass(info.hint, enum.Enum):
        return [str(one.value) for one in info.hint]
    return []


def _add_completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=sorted(SCRIPTS))


def _completion(args: argparse.Namespace) -> int:
    write_index()
    say(SCRIPTS[args.shell])
    return 0


COMPLETION = Verb(
    name="completion",
    summary="Print a script that completes verbs, keys and values in a shell.",
    help=f"""\
install:
  bash  paprle completion bash > ~/.local/share/bash-completion/completions/paprle
  zsh   paprle completion zsh > "${{fpath[1]}}/_paprle"
  fish  paprle completion fish > ~/.config/fish/completions/paprle.fish

The scripts ask `paprle {COMPLETE} WORD …`, which reads an index of keys. It is made
here, and after an update at the first Tab. New YAMLs are found without it; run this
again for keys of plug-ins of your own.""",
    add_arguments=_add_completion,
    run=_completion,
)
