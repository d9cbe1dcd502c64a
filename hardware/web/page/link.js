// The socket to the robot's computer. The token stands in the subprotocol, not in the address.

const AGAIN = 500; // [ms]

export class Link {
  constructor(token, page) {
    this.token = token;
    this.page = page;
    this.seq = 0;
    this.socket = null;
    this.nFailures = 0;
    this.onMessage = () => {};
    this.onChange = () => {};
  }

  get isOpen() {
    return this.socket !== null && this.socket.readyState === WebSocket.OPEN;
  }

  connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/leader`, ["paprle", this.token]);
    this.socket = socket;
    let wasOpen = false;
    socket.onopen = () => {
      wasOpen = true;
      this.nFailures = 0;
      this.seq = 0;
      const device = navigator.userAgent.slice(0, 300);
      socket.send(JSON.stringify({ type: "hello", version: 1, page: this.page, device }));
      this.onChange(true, "");
    };
    socket.onmessage = (event) => {
      const message = JSON.parse(event.data);
      if (message.type === "clock") {
        socket.send(JSON.stringify({ type: "clock", id: message.id, t: performance.now() }));
      } else {
        this.onMessage(message);
      }
    };
    socket.onclose = (event) => {
      if (!wasOpen) this.nFailures += 1;
      this.onChange(false, event.reason || (wasOpen ? "" : "refused, or nobody there"));
      setTimeout(() => this.connect(), AGAIN * Math.min(this.nFailures + 1, 30));
    };
  }

  // What waits in a stalled socket is old before it leaves: nothing is added to it.
  send(sample, mustLeave) {
    if (!this.isOpen || (this.socket.bufferedAmount > 8192 && !mustLeave)) return false;
    this.seq += 1;
    this.socket.send(JSON.stringify({ type: "sample", seq: this.seq, ...sample }));
    return true;
  }
}
