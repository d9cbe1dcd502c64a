"""A stand-in for the Hugging Face Hub: data sets, commits, LFS, tags and downloads.

It answers ``huggingface_hub`` with ``HF_ENDPOINT`` set to its address. Xet, which is no
plain HTTP, is off there (``HF_HUB_DISABLE_XET``).
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlparse

import yaml

TOKEN = "hf_good"
_LARGE = {".mp4", ".parquet"}
_LICENSES = {"apache-2.0", "cc-by-4.0", "cc0-1.0", "mit", "other"}
_ROUTES = {
    ("POST", r"/api/repos/create"): "create",
    ("POST", r"/api/validate-yaml"): "validate",
    ("GET", r"/api/datasets/([^/]+/[^/]+)(?:/revision/([^/]+))?"): "show",
    ("GET", r"/api/datasets/([^/]+/[^/]+)/tree/([^/]+)/?(.*)"): "list_tree",
    ("GET", r"/api/datasets/([^/]+/[^/]+)/refs"): "list_refs",
    ("POST", r"/api/datasets/([^/]+/[^/]+)/preupload/([^/]+)"): "prepare",
    ("POST", r"/datasets/([^/]+/[^/]+)\.git/info/lfs/objects/batch"): "batch",
    ("PUT", r"/lfs/([0-9a-f]+)"): "store",
    ("POST", r"/api/datasets/([^/]+/[^/]+)/commit/([^/]+)"): "commit",
    ("POST", r"/api/datasets/([^/]+/[^/]+)/tag/([^/]+)"): "tag",
    ("DELETE", r"/api/datasets/([^/]+/[^/]+)/tag/([^/]+)"): "untag",
    ("GET", r"/datasets/([^/]+/[^/]+)/resolve/([^/]+)/(.+)"): "give",
    ("HEAD", r"/datasets/([^/]+/[^/]+)/resolve/([^/]+)/(.+)"): "give",
}


class Hub:
    """A server on a port of its own, as a context manager.

    Attributes:
        sets: By name: ``files`` (bytes by path), ``tags``, ``private``, ``n_commits``.
        fails_after: Requests after which it breaks off.
    """

    def __init__(self):
        self.sets, self.blobs = {}, {}
        self.n_stored, self.fails_after = 0, None
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def handle_any(self):
                hub.answer(self)

            do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = handle_any  # noqa: N815

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, request):
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        path = unquote(urlparse(request.path).path)
        name, found = find_route(request.command, path)
        if found is None:
            send(request, 404, {"error": f"no {request.command} {path}"})
            return
        token = (request.headers.get("Authorization") or "").removeprefix("Bearer ")
        if name != "store" and token != TOKEN:
            send(request, 401, {"error": "Invalid credentials"})
            return
        if self.fails_after is not None and self.n_stored >= self.fails_after:
            request.close_connection = True
            send(request, 403, {"error": "quota"})
            return
        getattr(self, name)(request, body, *found.groups())

    def find(self, request, name):
        if name not in self.sets:
            send(request, 404, {"error": "none"}, {"X-Error-Code": "RepoNotFound"})
            return None
        return self.sets[name]

    def create(self, request, body):
        asked = json.loads(body)
        name = f"{asked.get('organization') or 'me'}/{asked['name']}"
        if name in self.sets:
            send(request, 409, {"error": "there", "url": f"{self.url}/datasets/{name}"})
            return
        is_private = asked.get("private") or asked.get("visibility") == "private"
        self.sets[name] = {
            "files": {}, "tags": {}, "private": bool(is_private), "n_commits": 0,
        }  # fmt: skip
        send(request, 200, {"url": f"{self.url}/datasets/{name}", "name": name})

    def validate(self, request, body):
        text = json.loads(body)["content"]
        head = yaml.safe_load(text.split("---\n")[1]) or {}
        name = head.get("license")
        errors = []
        if name is not None and name not in _LICENSES:
            errors.append({"message": f'"license" must be one of {_LICENSES}'})
        send(request, 400 if errors else 200, {"errors": errors, "warnings": []})

    def show(self, request, _, name, revision=None):
        if (own := self.find(request, name)) is None:
            return
        if revision not in {None, "main", "c" * 40, *own["tags"]}:
            send(request, 404, {"error": "none"}, {"X-Error-Code": "RevisionNotFound"})
            return
        files = [{"rfilename": path} for path in sorted(own["files"])]
        told = {
            "id": name, "private": own["private"], "sha": "c" * 40, "siblings": files,
        }  # fmt: skip
        send(request, 200, told)

    def list_tree(self, request, _, name, *__):
        if (own := self.find(request, name)) is not None:
            files = [
                {"type": "file", "path": path, "size": len(data), "oid": "b" * 40}
                for path, data in sorted(own["files"].items())
            ]
            send(request, 200, files)

    def list_refs(self, request, _, name):
        if (own := self.find(request, name)) is not None:
            commit = {"targetCommit": "c" * 40}
            tags = [
                {"name": tag, "ref": f"refs/tags/{tag}", **commit}
                for tag in own["tags"]
            ]
            main = {"name": "main", "ref": "refs/heads/main", **commit}
            send(request, 200, {"branches": [main], "tags": tags, "converts": []})

    def prepare(self, request, body, *_):
        files = [
            {
                "path": one["path"],
                "uploadMode": "lfs"
                if any(one["path"].endswith(end) for end in _LARGE)
                else "regular",
                "shouldIgnore": False,
            }
            for one in json.loads(body)["files"]
        ]
        send(request, 200, {"files": files})

    def batch(self, request, body, _):
        objects = []
        for one in json.loads(body)["objects"]:
            told = {"oid": one["oid"], "size": one["size"]}
            if one["oid"] not in self.blobs:
                href = f"{self.url}/lfs/{one['oid']}"
                told["actions"] = {"upload": {"href": href}}
            objects.append(told)
        send(request, 200, {"transfer": "basic", "objects": objects})

    def store(self, request, body, oid):
        assert hashlib.sha256(body).hexdigest() == oid
        self.blobs[oid] = body
        self.n_stored += 1
        send(request, 200, {})

    def commit(self, request, body, name, _):
        if (own := self.find(request, name)) is None:
            return
        for line in body.splitlines():
            item = json.loads(line)
            value = item["value"]
            if item["key"] == "file":
                own["files"][value["path"]] = base64.b64decode(value["content"])
            elif item["key"] == "lfsFile":
                own["files"][value["path"]] = self.blobs[value["oid"]]
            elif item["key"] == "deletedFile":
                del own["files"][value["path"]]
        own["n_commits"] += 1
        url = f"{self.url}/datasets/{name}/commit/{'c' * 40}"
        send(request, 200, {"commitUrl": url, "commitOid": "c" * 40})

    def tag(self, request, body, name, revision):
        if (own := self.find(request, name)) is not None:
            own["tags"][json.loads(body)["tag"]] = revision
            send(request, 200, {})

    def untag(self, request, _, name, tag):
        if (own := self.find(request, name)) is None:
            return
        if own["tags"].pop(tag, None) is None:
            head = {"X-Error-Code": "RevisionNotFound"}
            send(request, 404, {"error": "no tag"}, head)
            return
        send(request, 200, {})

    def give(self, request, _, name, __, path):
        if (own := self.find(request, name)) is None:
            return
        data = own["files"].get(path)
        if data is None:
            send(request, 404, {"error": "none"}, {"X-Error-Code": "EntryNotFound"})
            return
        etag = hashlib.sha256(data).hexdigest()
        head = {"ETag": f'"{etag}"', "X-Repo-Commit": "c" * 40}
        send(request, 200, data, head)


def find_route(command, path):
    """Return the method that answers, and the match of its path."""
    for (verb, form), name in _ROUTES.items():
        found = re.fullmatch(form, path)
        if verb == command and found:
            return name, found
    return "", None


def send(request, status, told, head=None):
    data = told if isinstance(told, bytes) else json.dumps(told).encode()
    request.send_response(status)
    request.send_header("Content-Length", str(len(data)))
    kind = "application/octet-stream" if isinstance(told, bytes) else "application/json"
    request.send_header("Content-Type", kind)
    for key, value in (head or {}).items():
        request.send_header(key, value)
    request.end_headers()
    if request.command != "HEAD":
        request.wfile.write(data)
