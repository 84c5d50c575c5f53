// CallState: the state of a route's form while the page is open: its draft, the running request, and the answers.
// It is kept under the name of the service, the method and the path, so it survives a restart of the service and a
// change of the screen.
import type { ServiceDescription, ServiceRoute } from '@svc/contract';
import { signal, type Signal } from '@preact/signals';
import { sendCall, type CallAnswer, type CallRequest } from '../api.ts';
import { announce } from '../store.ts';
import { problemOf } from '../loaded.ts';
import type { AnswerReason } from '../view/answer-reason.ts';
import { durationText } from '../view/number-text.ts';
import { callRequest, emptyCall, withIdempotencyKey, type CallDraft } from './call-draft.ts';

const ANSWERS_KEPT_MAX = 10;

export interface Answered {
  /** Number of the answer, counted from 1 for each route. */
  readonly number: number;
  /** When the answer arrived, in ISO 8601. */
  readonly at: string;
  /** The draft as it was sent. */
  readonly call: CallDraft;
  readonly request: CallRequest;
  readonly answer: CallAnswer;
  /**
   * Reason of the answer's status, found in its trace. The reason is stored here because the service keeps only its
   * newest traces.
   */
  readonly reason?: AnswerReason;
}

export class CallState {
  readonly call: Signal<CallDraft>;
  /** Answers, newest first. */
  readonly answers = signal<readonly Answered[]>([]);
  /** Number of the displayed answer; undefined until there is one. */
  readonly shown = signal<number | undefined>(undefined);
  /** When the running request was sent, in milliseconds since 1970; undefined if none is running. */
  readonly sentMs = signal<number | undefined>(undefined);
  /** Reason why the last request has no answer; undefined if it has one, is still running, or none was sent. */
  readonly problem = signal<string | undefined>(undefined);
  /** True once the user has tried to send the call with missing values: these are reported from then until a reset. */
  readonly isAsked = signal(false);
  #stop: AbortController | undefined;
  #sent = 0;

  constructor(call: CallDraft) {
    this.call = signal(call);
  }

  /** Sends the call. Only one request runs at a time. */
  async send(instanceId: string, route: ServiceRoute): Promise<void> {
    if (this.sentMs.value !== undefined) return;
    const call = this.call.value;
    const request = callRequest(call, route);
    const stop = new AbortController();
    this.#stop = stop;
    this.sentMs.value = Date.now();
    this.problem.value = undefined;
    try {
      const answer = await sendCall(instanceId, request, stop.signal);
      const number = ++this.#sent;
      const answered = { number, at: new Date().toISOString(), call, request, answer };
      this.answers.value = [answered, ...this.answers.value].slice(0, ANSWERS_KEPT_MAX);
      this.shown.value = number;
      announce(`request answered ${answer.status} in ${durationText(answer.durationMs)}`);
    } catch (error) {
      this.problem.value = stop.signal.aborted
        ? 'Cancelled. The service may have done it nevertheless: look for its trace.'
        : problemText(problemOf(error).status, problemOf(error).message);
    } finally {
      this.sentMs.value = undefined;
    }
  }

  /** Stores the reason of an answer's status. */
  explain(number: number, reason: AnswerReason): void {
    this.answers.value = this.answers.value.map((answered) =>
      answered.number === number ? { ...answered, reason } : answered,
    );
  }

  reset(call: CallDraft): void {
    this.call.value = call;
    this.isAsked.value = false;
  }

  cancel(): void {
    this.#stop?.abort();
  }

  newKey(): void {
    this.call.value = withIdempotencyKey(this.call.value, crypto.randomUUID());
  }
}

const states = new Map<string, CallState>();

export function callState(service: ServiceDescription, route: ServiceRoute): CallState {
  const key = `${service.name}\n${route.method} ${route.path}`;
  let state = states.get(key);
  if (state === undefined) {
    state = new CallState(emptyCall(route, service.types));
    states.set(key, state);
  }
  return state;
}

function problemText(status: number, message: string): string {
  if (status === 0) return 'The console has stopped. What you typed stays here.';
  if (status === 502) return `The service does not answer. What you typed stays here. (${message})`;
  return message;
}
