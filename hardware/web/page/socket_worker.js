// The page's socket, in a thread of its own.
//
// A browser without a graphics card stalls a page for up to a fifth of a second while it draws. The hand that was
// held at the beginning of a stall is repeated meanwhile, for LONGEST at most; then there is silence, and the robot
// brakes. A page that is closed or frozen takes this thread with it.

const FRAME = 1000 / 60, LATE = 25, LONGEST = 250; // [ms]
const FULL = 8192; // [bytes] what waits in a stalled socket is old before it leaves

let socket = null, hands = null, heard = 0, seq = 0;

function open([address, protocols]) {
  [hands, seq] = [null, 0];
  socket = new WebSocket(address, protocols);
  socket.onopen = () => postMessage({ event: "open" });
  socket.onmessage = (event) => postMessage({ event: "message", data: event.data });
  socket.onclose = (event) => postMessage({ event: "close", reason: event.reason });
}

function isOpen() {
  return socket?.readyState === WebSocket.OPEN;
}

function sayHands(message) {
  if (!isOpen() || (message.held && socket.bufferedAmount > FULL)) return;
  seq += 1;
  socket.send(JSON.stringify({ ...message, seq }));
}

onmessage = ({ data }) => {
  if (data.open) open(data.open);
  else if (data.hands) {
    [hands, heard] = [data.hands, performance.now()];
    sayHands(hands);
  } else if (isOpen()) socket.send(data.send);
};

setInterval(() => {
  const silent = performance.now() - heard;
  if (hands?.held && silent > LATE && silent < LONGEST) sayHands({ ...hands, t: hands.t + silent });
}, FRAME);
