// A page's socket to the robot's computer: it comes back by itself, and never says what is old.
//
// The token stands in the subprotocol, not in an address that is logged.

const AGAIN = 500, SLOWEST = 10; // [ms], and the most times as long between two trials
const FULL = 8192; // [bytes] what waits in a stalled socket is old before it leaves

export function takeToken() {
  const given = location.hash.slice(1);
  if (given) sessionStorage.setItem("token", given);
  history.replaceState(null, "", location.pathname);
  return sessionStorage.getItem("token") || "none";
}

// Names this page from its loading on.
export function makeName() {
  return crypto.getRandomValues(new Uint32Array(1))[0].toString(36);
}

export class Link {
  constructor(path, token, hello) {
    this.path = path;
    this.token = token;
    this.hello = hello;
    this.seq = 0;
    this.socket = null;
    this.nFailures = 0;
    this.onMessage = () => {};
    this.onChange = () => {};
  }

  get isOpen() {
    return this.socket !== null && this.socket.readyState === WebSocket.OPEN;
  }

  open(address, protocols) {
    return new WebSocket(address, protocols);
  }

  connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = this.open(`${scheme}://${location.host}${this.path}`, ["paprle", this.token]);
    this.socket = socket;
    let wasOpen = false;
    socket.onopen = () => {
      wasOpen = true;
      this.nFailures = 0;
      this.seq = 0;
      this.say({ type: "hello", version: 1, ...this.hello });
      this.onChange(true, "");
    };
    socket.onmessage = (event) => {
      const message = JSON.parse(event.data);
      if (message.type === "clock") {
        this.say({ type: "clock", id: message.id, t: performance.now() });
      } else {
        this.onMessage(message);
      }
    };
    socket.onclose = (event) => {
      if (!wasOpen) this.nFailures += 1;
      this.onChange(false, event.reason || (wasOpen ? "" : "refused, or nobody there"));
      setTimeout(() => this.connect(), AGAIN * Math.min(this.nFailures + 1, SLOWEST));
    };
  }

  say(message) {
    if (!this.isOpen) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  // What the operator does at this moment: only the newest counts.
  sayNewest(message, mustLeave) {
    if (!this.isOpen || (this.socket.bufferedAmount > FULL && !mustLeave)) return;
    this.seq += 1;
    this.say({ ...message, seq: this.seq });
  }
}
