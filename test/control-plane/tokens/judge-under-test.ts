// JudgeUnderTest: a TokenJudge for a provider of the test, with a clock that the test moves.
import type { LogEntry } from '@svc/kit/log-entry';
import { AUTH_DEFAULTS, type AuthSection } from '../../../control-plane/tokens/auth-section.ts';
import type { Caller, TokenOutcome } from '../../../control-plane/tokens/caller.ts';
import type { Clock } from '../../../control-plane/clock.ts';
import { TokenJudge } from '../../../control-plane/tokens/token-judge.ts';
import type { TokenSettings } from '../../../control-plane/tokens/token-settings.ts';
import type { IdentityProvider } from '../../support/identity-provider/identity-provider.ts';
import { CLI_CLIENT } from '../../support/identity-provider/provider-rules.ts';

/** Both clocks stand still until the test moves them. */
export class ManualClock implements Clock {
  /** How far the wall clock is from real time, and the monotonic clock from its start. */
  #passedMs = 0;
  readonly #startMs = Date.now();
  readonly #timers = new Set<{ readonly atMs: number; readonly callback: () => void }>();

  nowMs(): number {
    return this.#startMs + this.#passedMs;
  }

  monotonicMs(): number {
    return this.#passedMs;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { atMs: this.#passedMs + ms, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  advance(ms: number): void {
    this.#passedMs += ms;
    for (const timer of this.#timers)
      if (timer.atMs <= this.#passedMs) {
        this.#timers.delete(timer);
        timer.callback();
      }
  }
}

export class JudgeUnderTest {
  readonly clock = new ManualClock();
  readonly log: LogEntry[] = [];
  readonly settings: TokenSettings;
  readonly judge: TokenJudge;

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
    this.judge = new TokenJudge({
      settings: this.settings,
      clock: this.clock,
      log: (entry) => this.log.push(entry),
    });
  }

  async judged(token: string): Promise<TokenOutcome> {
    return await this.judge.judge([`Bearer ${token}`]);
  }

  /** The kind of the outcome, or the reason of a refusal. */
  async verdict(token: string): Promise<string> {
    const outcome = await this.judged(token);
    return outcome.kind === 'refused' ? outcome.reason : outcome.kind;
  }

  async caller(token: string): Promise<Caller> {
    const outcome = await this.judged(token);
    if (outcome.kind !== 'known') throw new Error(JSON.stringify(outcome));
    return outcome.caller;
  }
}
