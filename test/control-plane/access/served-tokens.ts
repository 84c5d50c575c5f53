// ServedTokens: a control plane over HTTP that judges the tokens of a real provider with a clock that the test moves.
import { onTestFinished } from 'vitest';
import { startControlPlane } from '../../../control-plane/control-plane.ts';
import { NO_ORCHESTRATOR } from '../../../control-plane/orchestration/no-orchestrator.ts';
import { ORCHESTRATOR_DEFAULTS } from '../../../control-plane/orchestration/orchestrator-section.ts';
import type { AuthSection } from '../../../tokens/auth-section.ts';
import type { IdentityProvider } from '../../support/identity-provider/identity-provider.ts';
import { CLI_CLIENT } from '../../support/identity-provider/provider-rules.ts';
import type { VirtualClock } from '../../../host/testing.ts';
import { VerifierUnderTest } from '../../tokens/verifier-under-test.ts';
import { fetchDocumented } from '../../support/documented-answers.ts';

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

export class ServedTokens {
  readonly url: string;
  readonly clock: VirtualClock;

  private constructor(url: string, clock: VirtualClock) {
    this.url = url;
    this.clock = clock;
  }

  static async start(
    provider: Pick<IdentityProvider, 'issuer' | 'audience'>,
    section: Partial<AuthSection> = {},
  ): Promise<ServedTokens> {
    const { verifier, clock } = new VerifierUnderTest(provider, { section });
    const { issuer, audience } = provider;
    const controlPlane = await startControlPlane({
      verifier,
      orchestrator: NO_ORCHESTRATOR,
      settings: {
        login: { issuer, audience, clientId: CLI_CLIENT },
        policy: { creation: 'verified-email' },
        orchestration: ORCHESTRATOR_DEFAULTS,
        version: '0.1.0',
      },
      host: { journal: 'memory', http: { port: 0 } },
      log: () => undefined,
    });
    onTestFinished(async () => {
      await controlPlane.stop();
      verifier.close();
    });
    return new ServedTokens(controlPlane.url, clock);
  }

  async send(line: string, token?: string, json?: object): Promise<Answered> {
    const [method, path] = line.split(' ') as [string, string];
    const response = await fetchDocumented(`${this.url}${path}`, {
      method,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    const text = await response.text();
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    return { status: response.status, headers: response.headers, body };
  }

  /** Returns the status of `GET /auth/whoami`. */
  async statusFor(token: string): Promise<number> {
    return (await this.send('GET /auth/whoami', token)).status;
  }
}
