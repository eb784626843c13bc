// Requests to the service, and the stream of an experiment. Addresses are relative to the page: it may have a prefix.

export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail ?? `the server answered with ${status}`);
    this.status = status;
    this.code = problem.code ?? "";
  }
}

async function answer(path, options = {}) {
  const response = await fetch(path, { credentials: "same-origin", ...options });
  if (!response.ok) throw new Refused(response.status, await response.json().catch(() => ({})));
  return response;
}

export async function get(path, query = {}) {
  return (await answer(`${path}?${new URLSearchParams(query)}`)).json();
}

export async function begin(token) {
  await answer("v1/session", { method: "POST", headers: { Authorization: `Bearer ${token}` } });
}

export async function end() {
  await answer("v1/session", { method: "DELETE" });
}

export function address(path, query) {
  return `${path}?${new URLSearchParams(query)}`;
}

// Follows an experiment as long as somebody looks at the page: a hidden tab needs no connection.
export class Stream {
  constructor(name, { whole, more, broken, state, refused }) {
    Object.assign(this, { name, whole, more, broken, state, refused, source: null, timer: null, over: false });
    this.seen = () => (document.hidden ? this.close() : this.open());
    document.addEventListener("visibilitychange", this.seen);
    this.open();
  }

  open() {
    if (this.over || this.source) return;
    clearTimeout(this.timer);
    this.source = new EventSource(address("v1/live", { experiment: this.name }));
    const on = (kind, act) => this.source.addEventListener(kind, (event) => act(JSON.parse(event.data)));
    on("whole", (data) => { this.state("live"); this.whole(data); });
    on("more", (data) => { this.state("live"); this.more(data); });
    on("broken", (data) => this.broken(data.problem));
    this.source.onerror = () => this.again();
  }

  // The connection is gone: find out why, and try again soon.
  async again() {
    this.close();
    this.state("waiting");
    try {
      await get("v1/settings", { experiment: this.name });
    } catch (error) {
      if (error instanceof Refused && [401, 404].includes(error.status)) return this.refused(error);
    }
    if (!this.over && !document.hidden) this.timer = setTimeout(() => this.open(), 1000);
  }

  close() {
    this.source?.close();
    this.source = null;
    clearTimeout(this.timer);
  }

  stop() {
    this.over = true;
    this.close();
    document.removeEventListener("visibilitychange", this.seen);
  }
}
