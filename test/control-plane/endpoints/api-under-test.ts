// ApiUnderTest: a control plane over HTTP with a real identity provider, and the people who send requests to it.
import type { Failure } from '@svc/client';
import type { Service } from '@svc/host';
import { callerOf } from '../../../control-plane/access/token-caller.ts';
import {
  startControlPlane,
  type ControlPlane,
  type ControlPlaneSettings,
  type HostOptions,
} from '../../../control-plane/control-plane.ts';
import { ORCHESTRATOR_DEFAULTS } from '../../../control-plane/orchestration/orchestrator-section.ts';
import type { Orchestrator } from '../../../control-plane/orchestration/orchestrator.ts';
import { AUTH_DEFAULTS } from '../../../tokens/auth-section.ts';
import { providerMetrics } from '../../../api/provider-metrics.ts';
import { TokenVerifier } from '../../../tokens/token-verifier.ts';
import {
  IdentityProvider,
  type IssuedToken,
} from '../../support/identity-provider/identity-provider.ts';
import { CLI_CLIENT } from '../../support/identity-provider/provider-rules.ts';
import { expectDocumented } from '../../support/documented-answers.ts';

const ROLES_PATH = ['realm_access', 'roles'];
export const BASE_DOMAIN = 'svc.test';

/** Returns an orchestrator that runs nothing, except for what is given. */
export function idleOrchestrator(given: Partial<Orchestrator> = {}): Orchestrator {
  return {
    problems: async () => [],
    reconcile: async () => {},
    observe: async (key) => ({ kind: 'none', key }),
    logs: async () => [],
    watch: () => ({ [Symbol.dispose]() {} }),
    ...given,
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The JSON of the body; undefined without one. */
  readonly body: unknown;
}

export interface Sent {
  /** Token, or subject of a person whose token is made. Absent: no token. */
  readonly as?: string;
  readonly token?: string;
  /** Body as a value, which is sent as JSON, or as text. */
  readonly json?: unknown;
  readonly text?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

export class ApiUnderTest implements AsyncDisposable {
  readonly provider: IdentityProvider;
  readonly control: ControlPlane;
  /** Tokens by subject. */
  readonly #tokens = new Map<string, Promise<string>>();

  private constructor(provider: IdentityProvider, control: ControlPlane) {
    this.provider = provider;
    this.control = control;
  }

  get service(): Service {
    return this.control.service;
  }

  static async start(
    settings: Partial<ControlPlaneSettings> = {},
    host: HostOptions = { journal: 'memory', http: { port: 0 } },
    orchestrator: Orchestrator = idleOrchestrator(),
  ): Promise<ApiUnderTest> {
    const provider = await IdentityProvider.start();
    const { issuer, audience } = provider;
    const login = { issuer, audience, clientId: CLI_CLIENT };
    const verifier = new TokenVerifier({
      settings: { ...login, section: AUTH_DEFAULTS },
      callerOf: (claims) => callerOf(claims, ROLES_PATH),
      log: () => {},
    });
    const control = await startControlPlane({
      verifier,
      orchestrator,
      log: () => {},
      settings: {
        login,
        policy: { creation: 'anyone' },
        baseDomain: BASE_DOMAIN,
        version: '0.1.0',
        orchestration: ORCHESTRATOR_DEFAULTS,
        ...settings,
      },
      host: { ...host, metrics: providerMetrics('control_plane', verifier.keys) },
    });
    return new ApiUnderTest(provider, control);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.control.stop();
    await this.provider.stop();
  }

  /** A person whom the provider knows; the token of the subject says so from now on. */
  knows(person: IssuedToken): void {
    this.#tokens.set(person.subject, this.provider.issue(person));
  }

  token(subject: string): Promise<string> {
    let token = this.#tokens.get(subject);
    if (token === undefined) {
      token = this.provider.issue({ subject });
      this.#tokens.set(subject, token);
    }
    return token;
  }

  /** Sends `GET /organizations/shop`, and checks the answer against the OpenAPI document. */
  async send(line: string, { as, token, json, text, headers = {} }: Sent = {}): Promise<Answer> {
    const [method, target] = line.split(' ') as [string, string];
    const bearer = token ?? (as === undefined ? undefined : await this.token(as));
    const body = json === undefined ? text : JSON.stringify(json);
    const response = await fetch(`${this.control.url}${target}`, {
      method,
      headers: {
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body }),
      redirect: 'manual',
    });
    const received = await response.text();
    const answer: Answer = {
      status: response.status,
      headers: response.headers,
      text: received,
      body: received === '' ? undefined : JSON.parse(received),
    };
    expectDocumented(method, target, answer);
    return answer;
  }

  /** Sends a request, and fails if it is not answered with 200 or 204. Returns the body. */
  async done(line: string, sent: Sent = {}): Promise<unknown> {
    const answer = await this.send(line, sent);
    if (answer.status >= 300)
      throw new Error(`${line} is answered ${answer.status}: ${answer.text}`);
    return answer.body;
  }

  /** Returns status and error of an answer. */
  async refusal(line: string, sent: Sent = {}): Promise<readonly [number, string]> {
    const { status, body } = await this.send(line, sent);
    return [status, (body as Failure | undefined)?.error ?? ''];
  }
}
