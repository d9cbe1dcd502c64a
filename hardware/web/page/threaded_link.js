// A link whose socket lives in a thread of its own (socket_worker.js): what is drawn does not delay it.

import { Link } from "./link.js";

class ThreadedSocket {
  constructor(address, protocols) {
    this.readyState = WebSocket.CONNECTING;
    this.worker = new Worker("socket_worker.js");
    this.worker.onmessage = ({ data }) => this.hear(data);
    this.worker.postMessage({ open: [address, protocols] });
  }

  hear({ event, ...rest }) {
    if (event === "open") this.readyState = WebSocket.OPEN;
    if (event === "close") {
      this.readyState = WebSocket.CLOSED;
      this.worker.terminate();
    }
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
  open(address, protocols) {
    return new ThreadedSocket(address, protocols);
  }

  sayHands(hands) {
    if (this.isOpen) this.socket.sendHands(hands);
  }
}
