// EndpointAnswer: what a caller of an endpoint gets, and what it does not get to see of a fault.
/* oxlint-disable typescript/no-explicit-any -- a test that is wrong about JSON finds out when it runs */
/* oxlint-disable typescript/unbound-method -- a door is named for its place in a stack, never called */
import { inspect } from 'node:util';
import type { InProcessAnswer } from '@svc/host/tools';
import { parsed } from './json-value.ts';
import { TestFailure, shown } from './test-failure.ts';

export class EndpointAnswer<Json = any> {
  readonly status: number;
  /** Names in lower case; repeated ones joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  /** What the runtime logged of a fault: its reason, and the module's last words. */
  readonly failure: string | undefined;
  readonly #request: string;

  constructor(request: string, answer: InProcessAnswer, failure: string | undefined) {
    this.#request = request;
    this.status = answer.status;
    this.bytes = answer.body;
    this.failure = failure;
    const headers: Record<string, string> = {};
    for (const [name, value] of answer.headers)
      headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
    this.headers = headers;
  }

  /** What `console.log` and the report of a failed test show: the text, not its bytes. */
  [inspect.custom](): object {
    const { status, headers, text, failure } = this;
    return { status, headers, text, ...(failure === undefined ? {} : { failure }) };
  }

  get text(): string {
    return new TextDecoder().decode(this.bytes);
  }

  /** The body as JSON. A body that is none fails the test. */
  get json(): Json {
    try {
      return parsed(this.text) as Json;
    } catch {
      const door = Object.getOwnPropertyDescriptor(EndpointAnswer.prototype, 'json')!.get!;
      throw new TestFailure(
        `${this.#request} answered ${this.status} with a body that is not JSON: ` +
          `'${shown(this.text)}'`,
        door,
      );
    }
  }
}
