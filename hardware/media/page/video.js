// The video of the robot's cameras. The token stands behind the # of the address, and goes
// into the subprotocol of the socket, so that it is in no log.

const HERE = 300; // [ms] who is silent for a second loses the place
const AGAIN = 1000; // [ms]
const PIECE = 2000; // letters; the server takes messages of 4 KiB at most
const state = document.getElementById("state");
const cameras = document.getElementById("cameras");

function show(name, track) {
  const figure = document.createElement("figure");
  const video = document.createElement("video");
  const caption = document.createElement("figcaption");
  video.autoplay = video.muted = video.playsInline = true;
  video.srcObject = new MediaStream([track]);
  caption.textContent = name;
  figure.append(video, caption);
  cameras.append(figure);
}

async function offer(socket, names) {
  const peer = new RTCPeerConnection();
  cameras.replaceChildren();
  const order = names.map(() => peer.addTransceiver("video", { direction: "recvonly" }));
  peer.ontrack = (event) => {
    const at = order.indexOf(event.transceiver);
    show(names[at] ?? "camera", event.track);
  };
  peer.onconnectionstatechange = () => {
    state.textContent = peer.connectionState === "connected" ? "live" : peer.connectionState;
  };
  await peer.setLocalDescription(await peer.createOffer());
  await new Promise((done) => {
    if (peer.iceGatheringState === "complete") done();
    peer.onicegatheringstatechange = () => peer.iceGatheringState === "complete" && done();
    setTimeout(done, AGAIN);
  });
  const { sdp } = peer.localDescription;
  for (let at = 0; at < sdp.length; at += PIECE) {
    const isLast = at + PIECE >= sdp.length;
    socket.send(JSON.stringify({ type: "offer", sdp: sdp.slice(at, at + PIECE), isLast }));
  }
  return peer;
}

function connect() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const token = location.hash.slice(1);
  const socket = new WebSocket(`${scheme}://${location.host}/video`, ["paprle", token]);
  let peer = null;
  let timer = 0;
  socket.onopen = () => {
    timer = setInterval(() => socket.send(JSON.stringify({ type: "look" })), HERE);
  };
  socket.onmessage = async (event) => {
    const message = JSON.parse(event.data);
    if (message.type === "cameras" && message.names.length > 0 && peer === null) {
      peer = "asked";
      peer = await offer(socket, message.names);
    } else if (message.type === "answer") {
      await peer.setRemoteDescription(message);
    }
  };
  socket.onclose = () => {
    clearInterval(timer);
    if (peer !== null && peer !== "asked") peer.close();
    state.textContent = "no video: the robot's host does not answer, or the address is an old one";
    setTimeout(connect, AGAIN);
  };
}

if (location.hash.length > 1) connect();
else state.textContent = "no video: open the whole address that the robot's terminal shows";
