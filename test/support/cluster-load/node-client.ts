// NodeClient asks one node of a service for operations on registers and counters (fixtures/concurrent-objects), and translates what it gets into
// the outcome of an attempt. It sends each request once.
import { Agent, request } from 'node:http';
import type { CounterInput } from '../linearizability/counter-model.ts';
import type { Outcome } from '../linearizability/history.ts';
import type { RegisterInput } from '../linearizability/register-model.ts';

export interface Operation {
  readonly kind: 'register' | 'counter';
  readonly entity: string;
  readonly input: RegisterInput | CounterInput;
  readonly key?: string;
}

export interface Result {
  readonly startMs: number;
  readonly endMs: number;
  readonly outcome: Outcome<number>;
  /** Status, or the code of an error of the connection. */
  readonly label: string;
  /** Text of an answer that no service should give; undefined for every other one. */
  readonly unexpected: string | undefined;
  /** Text of an answer that is none of a success. */
  readonly failure?: string;
}

type Judged = Pick<Result, 'outcome' | 'label' | 'unexpected' | 'failure'>;

export class NodeClient {
  readonly #url: string;
  readonly #agent = new Agent({ keepAlive: true });
  #asked = 0;
  #isRetired = false;

  constructor(url: string) {
    this.#url = url;
  }

  /** Resolves with the result, whatever happens. A request without an answer within the time is given up: its outcome is unknown. */
  async ask(operation: Operation, timeoutMs: number): Promise<Result> {
    const startMs = performance.now();
    this.#asked++;
    const judged = await this.#send(operation, timeoutMs);
    this.#asked--;
    if (this.#isRetired) this.retire();
    return { startMs, endMs: performance.now(), ...judged };
  }

  /** Closes the connections once the requests in flight have ended. None follows. */
  retire(): void {
    this.#isRetired = true;
    if (this.#asked === 0) this.close();
  }

  close(): void {
    this.#agent.destroy();
  }

  #send({ kind, entity, input, key }: Operation, timeoutMs: number): Promise<Judged> {
    const { method, body } = requestOf(input);
    const headers = {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    };
    const judged = Promise.withResolvers<Judged>();
    const broken = (error: NodeJS.ErrnoException) => judged.resolve(ofBroken(error));
    const url = `${this.#url}/${kind}s/${entity}`;
    const signal = AbortSignal.timeout(timeoutMs);
    const sent = request(url, { method, headers, signal, agent: this.#agent }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('error', broken);
      response.on('end', () => judged.resolve(ofAnswer(response.statusCode!, text)));
    });
    sent.on('error', broken);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    return judged.promise;
  }
}

function requestOf(input: Operation['input']) {
  if (input.kind === 'set') return { method: 'PUT', body: { value: input.value } };
  if (input.kind === 'add') return { method: 'POST', body: { amount: input.amount } };
  return { method: input.kind === 'delete' ? 'DELETE' : 'GET' };
}

function ofAnswer(status: number, text: string): Judged {
  const label = String(status);
  const value = status === 200 ? valueIn(text) : undefined;
  if (value !== undefined)
    return { outcome: { kind: 'answered', output: value }, label, unexpected: undefined };
  if (status === 422) return { outcome: { kind: 'reused' }, label, unexpected: undefined };
  if (status === 503)
    return { outcome: { kind: 'not-done' }, label, unexpected: undefined, failure: text };
  const unexpected = status === 504 ? undefined : `${status} ${text}`;
  return { outcome: { kind: 'unknown' }, label, unexpected, failure: text };
}

function valueIn(text: string): number | undefined {
  try {
    const { value } = JSON.parse(text) as { readonly value?: unknown };
    return typeof value === 'number' ? value : undefined;
  } catch {
    return undefined;
  }
}

function ofBroken({ code = 'no code', name }: NodeJS.ErrnoException): Judged {
  // Nothing was sent without a connection.
  const kind = code === 'ECONNREFUSED' ? 'not-done' : 'unknown';
  return {
    outcome: { kind },
    label: name === 'AbortError' ? 'timeout' : code,
    unexpected: undefined,
  };
}
