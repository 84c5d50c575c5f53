// VerifierUnderTest: the TokenVerifier of a control plane for a provider of the test, with a clock that the test moves.
import type { LogEntry } from '@svc/kit/log-entry';
import { callerOf, type Caller } from '../../control-plane/access/token-caller.ts';
import { AUTH_DEFAULTS, type AuthSection } from '../../tokens/auth-section.ts';
import type { TokenOutcome } from '../../tokens/token-outcome.ts';
import { TokenVerifier } from '../../tokens/token-verifier.ts';
import type { TokenSettings } from '../../tokens/token-settings.ts';
import type { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import { VirtualClock } from '../../host/testing.ts';
import { CLI_CLIENT } from '../support/identity-provider/provider-rules.ts';

export class VerifierUnderTest {
  readonly clock = new VirtualClock(Date.now());
  readonly log: LogEntry[] = [];
  readonly settings: TokenSettings;
  readonly verifier: TokenVerifier<Caller>;

  constructor(
    { issuer, audience }: Pick<IdentityProvider, 'issuer' | 'audience'>,
    {
      section,
      ...settings
    }: Partial<Omit<TokenSettings, 'section'>> & { readonly section?: Partial<AuthSection> } = {},
  ) {
    this.settings = {
      issuer,
      audience,
      clientId: CLI_CLIENT,
      rolesPath: ['realm_access', 'roles'],
      ...settings,
      section: { ...AUTH_DEFAULTS, ...section },
    };
    this.verifier = new TokenVerifier({
      settings: this.settings,
      callerOf: (claims) => callerOf(claims, this.settings.rolesPath),
      clock: this.clock,
      log: (entry) => this.log.push(entry),
    });
  }

  async outcomeOf(token: string): Promise<TokenOutcome<Caller>> {
    return await this.verifier.verify([`Bearer ${token}`]);
  }

  /** The kind of the outcome, or the reason of a refusal. */
  async verdict(token: string): Promise<string> {
    const outcome = await this.outcomeOf(token);
    return outcome.kind === 'refused' ? outcome.reason : outcome.kind;
  }

  async caller(token: string): Promise<Caller> {
    const outcome = await this.outcomeOf(token);
    if (outcome.kind !== 'known') throw new Error(JSON.stringify(outcome));
    return outcome.caller;
  }
}
