// A link whose socket lives in a thread of its own (socket_worker.js): what is drawn does not delay it.

import { Link } from "./link.js";

class ThreadedSocket {
  constructor(worker, address, protocols) {
    this.readyState = WebSocket.CONNECTING;
    this.worker = worker;
    worker.onmessage = ({ data }) => this.hear(data);
    worker.postMessage({ open: [address, protocols] });
  }

  hear({ event, ...rest }) {
    if (event === "open") this.readyState = WebSocket.OPEN;
    if (event === "close") this.readyState = WebSocket.CLOSED;
    this[`on${event}`](rest);
  }

  send(text) {
    this.worker.postMessage({ send: text });
  }

  sendHands(hands) {
    this.worker.postMessage({ hands });
  }
}

export class ThreadedLink extends Link {
  worker = new Worker("socket_worker.js"); // with the page: its server may be gone when the socket comes back

  open(address, protocols) {
    return new ThreadedSocket(this.worker, address, protocols);
  }

  sayHands(hands) {
    if (this.isOpen) this.socket.sendHands(hands);
  }
}
