// FormBrowser: a browser without a screen, which follows redirects of a provider, keeps its cookies and sends forms.
export class FormBrowser {
  readonly #callback: string;
  readonly #cookies = new Map<string, string>();

  /** `callback`: beginning of the address of the command line. */
  constructor(callback: string) {
    this.#callback = callback;
  }

  /** Goes to the page; `fields` are sent as a form. Ends at the callback of the command line, which it does not ask. */
  async go(
    start: string,
    fields?: Readonly<Record<string, string>>,
  ): Promise<{ readonly url: string; readonly body: string }> {
    let url = start;
    let init: RequestInit =
      fields === undefined ? {} : { method: 'POST', body: new URLSearchParams(fields) };
    for (let redirects = 0; redirects < 10; redirects++) {
      if (url.startsWith(this.#callback)) return { url, body: '' };
      const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await fetch(url, { ...init, redirect: 'manual', headers: { cookie } });
      const body = await response.text();
      for (const line of response.headers.getSetCookie()) this.#keep(line);
      const location = response.headers.get('location');
      if (location === null) return { url, body };
      url = new URL(location, url).href;
      init = {};
    }
    throw new Error(`too many redirects from ${start}`);
  }

  #keep(line: string): void {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
    if (value === '') this.#cookies.delete(name!);
    else this.#cookies.set(name!, value!);
  }
}
