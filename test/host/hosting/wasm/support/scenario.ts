// A scenario: calls of a guest in plain JSON, which are made once through our binding and once through jco's.
export interface ScenarioContext {
  readonly nowMs: number;
  /** Decimal digits. */
  readonly seed: string;
  readonly metadata: readonly (readonly [string, string])[];
}

export type ScenarioCall =
  | {
      readonly kind: 'open';
      readonly component: string;
      readonly id: string;
      readonly snapshot?: string;
    }
  | { readonly kind: 'apply'; readonly events: readonly { manifest: string; json: string }[] }
  | {
      readonly kind: 'command' | 'query';
      readonly context: ScenarioContext;
      readonly name: string;
      readonly input: string;
    }
  | { readonly kind: 'snapshot' }
  | {
      readonly kind: 'handle';
      readonly context: ScenarioContext;
      readonly request: {
        readonly route: number;
        readonly parameters: readonly string[];
        readonly query: string;
        readonly headers: readonly (readonly [string, string])[];
        readonly caller: string;
        readonly body:
          | { readonly kind: 'none' }
          | { readonly kind: 'json' | 'text'; readonly text: string }
          /** Base64. */
          | { readonly kind: 'bytes'; readonly bytes: string };
      };
      /** Results of the handler's calls of `routing.call`, in order. */
      readonly answers: readonly RoutingAnswer[];
      /** Results of the handler's calls of `routing.request`, in order; without one left, the call fails. */
      readonly responses?: readonly ServiceAnswer[];
      /** Result of `journal.read`. */
      readonly journal?: readonly RecordedEvent[];
    };

export type ServiceAnswer =
  | {
      readonly kind: 'response';
      readonly status: number;
      readonly headers: readonly (readonly [string, string])[];
      /** Base64. */
      readonly body: string;
    }
  | { readonly kind: 'denied'; readonly reason: string };

export interface RecordedEvent {
  readonly seq: number;
  readonly timeMs: number;
  readonly event: { readonly manifest: string; readonly json: string };
}

export type RoutingAnswer =
  | { readonly kind: 'reply'; readonly json: string }
  | {
      readonly kind: 'refusal';
      readonly code: string;
      readonly message: string;
      readonly details?: string;
      /** Name of the code if it is `OTHER`. */
      readonly otherCode?: string;
    };

/** Results, in plain JSON; `routed` has the arguments of the handler's calls of the host. */
export interface ScenarioResult {
  readonly outcome: unknown;
  readonly routed: readonly unknown[];
  readonly log: readonly { readonly level: string; readonly message: string }[];
}
