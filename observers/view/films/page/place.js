// The place that an address names: #TOKEN&film=2&t=12.5, as the links of a report have it.

// Takes film and time out of the address; the token stays there.
export function takePlace() {
  const parts = location.hash.slice(1).split("&");
  const words = new URLSearchParams(parts.filter((part) => part.includes("=")).join("&"));
  const token = parts.filter((part) => part && !part.includes("=")).join("&");
  history.replaceState(null, "", location.pathname + (token ? `#${token}` : ""));
  const film = Number.parseInt(words.get("film"), 10), t = Number.parseFloat(words.get("t"));
  if (!Number.isInteger(film)) return null;
  return { film, t: Number.isFinite(t) ? t : 0 };
}
