// EndpointAnswer: the response of an endpoint, and the logged fault that the caller does not receive.
/* oxlint-disable typescript/no-explicit-any -- a test that is wrong about JSON finds out when it runs */
/* oxlint-disable typescript/unbound-method -- these methods only mark where a stack begins, and are not called */
import { inspect } from 'node:util';
import type { InProcessAnswer } from '@svc/host/tools';
import { parsed } from './json-value.ts';
import { TestFailure, shown } from './test-failure.ts';

export class EndpointAnswer<Json = any> {
  readonly status: number;
  /** Headers with names in lower case; repeated ones are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  /** Reason of the logged fault, with the module's abort message; undefined if there is none. */
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

  /** Controls the output of `console.log` and of a failed test: the text instead of its bytes. */
  [inspect.custom](): object {
    const { status, headers, text, failure } = this;
    return { status, headers, text, ...(failure === undefined ? {} : { failure }) };
  }

  get text(): string {
    return new TextDecoder().decode(this.bytes);
  }

  /** The body as JSON. A body that is not JSON fails the test. */
  get json(): Json {
    try {
      return parsed(this.text) as Json;
    } catch {
      const stackStart = Object.getOwnPropertyDescriptor(EndpointAnswer.prototype, 'json')!.get!;
      throw new TestFailure(
        `${this.#request} answered ${this.status} with a body that is not JSON: ` +
          `'${shown(this.text)}'`,
        stackStart,
      );
    }
  }
}
