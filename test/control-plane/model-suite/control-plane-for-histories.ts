// ControlPlaneForHistories: a whole control plane over HTTP, whose tokens are the callers themselves, and which runs nothing.
import type { Verifier } from '../../../api/caller-routes.ts';
import { startControlPlane, type ControlPlane } from '../../../control-plane/control-plane.ts';
import { ORCHESTRATOR_DEFAULTS } from '../../../control-plane/orchestration/orchestrator-section.ts';
import type { Orchestrator } from '../../../control-plane/orchestration/orchestrator.ts';
import type { Caller } from '../../../control-plane/access/token-caller.ts';

export const BASE_DOMAIN = 'svc.test';

/** Takes the tokens that the driver sends. */
export const TRUSTING_VERIFIER: Verifier<Caller> = {
  async verify([value]) {
    const token = value?.slice('Bearer '.length) ?? '';
    const caller = JSON.parse(Buffer.from(token, 'base64url').toString()) as Caller;
    return { kind: 'known', caller };
  },
};

/** It runs nothing. */
const IDLE: Orchestrator = {
  problems: async () => [],
  reconcile: async () => {},
  observe: async (key) => ({ kind: 'none', key }),
  logs: async () => [],
  watch: () => ({ [Symbol.dispose]() {} }),
};

export function startForHistories(dataFolder: string): Promise<ControlPlane> {
  return startControlPlane({
    verifier: TRUSTING_VERIFIER,
    orchestrator: IDLE,
    log: () => {},
    settings: {
      login: { issuer: 'https://id.test', clientId: 'cli', audience: `https://api.${BASE_DOMAIN}` },
      policy: { creation: 'anyone' },
      baseDomain: BASE_DOMAIN,
      version: '0.1.0',
      orchestration: ORCHESTRATOR_DEFAULTS,
    },
    host: { dataFolder, http: { port: 0 } },
  });
}
