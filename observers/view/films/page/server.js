// Questions to the server; a page whose server has ended says so.

const GONE = "The viewer has ended; start it again with: paprle view";

export class Server {
  constructor(token) {
    this.root = `film/${token}`;
    this.onLost = () => {};
  }

  address(path, words = {}) {
    return `${this.root}/${path}?${new URLSearchParams(words)}`;
  }

  async ask(path, words = {}) {
    try {
      const answer = await fetch(this.address(path, words));
      if (answer.ok) return await answer.json();
      const isToken = answer.status === 401 || answer.status === 429;
      return this.lose(isToken ? "This address is of an earlier start; open the newest one" : `got ${answer.status}`);
    } catch {
      return this.lose(GONE);
    }
  }

  lose(text) {
    this.onLost(text);
    return { error: text };
  }
}
