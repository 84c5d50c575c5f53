// ProcessEndpoints and ProcessConsumers run the handlers of a service in its process.
import type { ModuleDescriptor } from '@svc/contract';
import type { CallContext, Refusal } from '@svc/model/call';
import type { Verdict } from '@svc/model/consumer';
import type { EndpointRequest, EndpointResponse, WholeRequest } from '@svc/model/endpoint';
import type { EntityEvent } from '@svc/model/entity';
import type { GuestConsumers, GuestEndpoints, HostCalls } from '@svc/model/guest';
import { contextFrame, refusalOf } from '@svc/process-protocol/call-frames';
import {
  eventFrame,
  handleFrame,
  responseOf,
  verdictOf,
} from '@svc/process-protocol/handler-frames';
import { ProtocolError } from '@svc/process-protocol/protocol-error';
import { HandlerRun } from './handler-run.ts';
import type { ProcessLink } from './process-link.ts';
import type { ProcessSettings } from './process-settings.ts';

const OTHER_KIND = 'it has answered a handler with a frame of another kind';

export class ProcessEndpoints implements GuestEndpoints {
  readonly #link: ProcessLink;
  readonly #settings: ProcessSettings;
  /** The handlers in words, by the indices of their routes. */
  readonly #handlers: readonly string[];

  constructor(link: ProcessLink, settings: ProcessSettings, { endpoints }: ModuleDescriptor) {
    this.#link = link;
    this.#settings = settings;
    this.#handlers = endpoints.flatMap(({ name, routes }) =>
      routes.map(({ handler }) => `handler '${handler}' of endpoint '${name}'`),
    );
  }

  async handle(
    context: CallContext,
    request: EndpointRequest,
    calls: HostCalls,
  ): Promise<EndpointResponse | Refusal> {
    const run = new HandlerRun(this.#link.stream, calls);
    // Bodies are read before: this hosting does not ask for them itself.
    const value = handleFrame(context, request as WholeRequest);
    const { handlerTimeoutMs } = this.#settings;
    const subject = this.#handlers[request.route] ?? 'a handler';
    const answer = await run.answer({ $case: 'handle', value }, handlerTimeoutMs, subject);
    return run.read(() => {
      if (answer.$case === 'refusal') return refusalOf(answer.value);
      if (answer.$case === 'response') return responseOf(answer.value);
      throw new ProtocolError(OTHER_KIND);
    });
  }
}

export class ProcessConsumers implements GuestConsumers {
  readonly #link: ProcessLink;
  readonly #settings: ProcessSettings;

  constructor(link: ProcessLink, settings: ProcessSettings) {
    this.#link = link;
    this.#settings = settings;
  }

  async handle(
    context: CallContext,
    consumer: string,
    event: EntityEvent,
    calls: HostCalls,
  ): Promise<Verdict | Refusal> {
    const run = new HandlerRun(this.#link.stream, calls);
    const value = { context: contextFrame(context), consumer, event: eventFrame(event) };
    const { handlerTimeoutMs } = this.#settings;
    const subject = `consumer '${consumer}'`;
    const answer = await run.answer({ $case: 'consume', value }, handlerTimeoutMs, subject);
    return run.read(() => {
      if (answer.$case === 'refusal') return refusalOf(answer.value);
      if (answer.$case === 'verdict') return verdictOf(answer.value);
      throw new ProtocolError(OTHER_KIND);
    });
  }
}
