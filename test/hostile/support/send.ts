// A request to a host that is attacked: it ends, if only in the words for what did not come.
import { within } from '../../support/within.ts';

/** Longer than a request may take the host, as these tests set it. */
const ANSWER_SECONDS = 25;

export interface Sent {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

export async function send(address: string, options: RequestInit = {}): Promise<Sent> {
  const sent = responseOf(address, options).then(async (response) => {
    const { status, headers } = response;
    return { status, text: await response.text(), headers };
  });
  return within(ANSWER_SECONDS, `all of the answer to ${address}`, sent);
}

/** As `fetch` has it. */
export async function responseOf(address: string, options: RequestInit = {}): Promise<Response> {
  const what = `the answer to ${options.method ?? 'GET'} ${address}`;
  return within(ANSWER_SECONDS, what, fetch(address, options));
}
