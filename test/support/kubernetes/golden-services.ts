// GoldenServices: the services whose manifests are files in test/control-plane/kubernetes/generated/.
import type { KubernetesInstallation } from '../../../control-plane/kubernetes/manifests/installation.ts';
import type { DesiredService } from '../../../control-plane/orchestration/orchestrator.ts';
import {
  CLOUD_NATIVE_PG,
  desiredService,
  EMBEDDED,
  installation,
  PROCESS,
  WASM,
  WEB,
} from './installation-under-test.ts';

export interface GoldenService {
  readonly desired: DesiredService;
  readonly installation: KubernetesInstallation;
}

const TOKENS = {
  SVC_AUTH_ISSUER: 'https://login.example.org',
  SVC_AUTH_AUDIENCE: 'https://services.example.org',
};
const ENV = { NODE_OPTIONS: '--import=/app/it.js', feePerDay: '0.50', SVC_SHARDS: '2' };

/** Indexed by the name of the file. */
export const GOLDEN_SERVICES: Readonly<Record<string, GoldenService>> = {
  'embedded-on-a-volume': {
    desired: desiredService({ ...EMBEDDED, env: { LEVEL: 'debug', NODE_OPTIONS: '--trace-gc' } }),
    installation: installation({ journals: { storageClass: 'fast', size: '20Gi' } }),
  },
  'process-on-a-volume': {
    desired: desiredService({ ...PROCESS, env: ENV }),
    installation: installation(),
  },
  'process-with-a-database': {
    desired: desiredService({
      ...PROCESS,
      instances: 3,
      auth: 'platform' as const,
      database: { urlFrom: 'cart.db' },
    }),
    installation: installation({ tokens: TOKENS, remotingFrom: 'service' }),
  },
  'wasm-on-a-volume': {
    desired: desiredService({
      ...WASM,
      env: { feePerDay: '0.50', SVC_LOG_LINES_PER_SECOND: '50' },
      allow: ['route-removed:counter'],
    }),
    installation: installation(),
  },
  'wasm-with-a-database': {
    desired: desiredService({
      ...WASM,
      instances: 10,
      auth: 'platform' as const,
      resources: { cpu: '2', memory: '1Gi' },
    }),
    installation: installation({
      databases: CLOUD_NATIVE_PG,
      tokens: TOKENS,
      pullSecrets: ['registry'],
    }),
  },
  'wasm-without-http': {
    desired: desiredService({ ...WASM, http: false }),
    installation: installation(),
  },
  'wasm-paused': {
    desired: desiredService(
      { ...WASM, instances: 2 },
      { instances: 0, isPaused: true, hostnames: ['counter-shop.apps.example.org'] },
    ),
    installation: installation({ databases: CLOUD_NATIVE_PG }),
  },
  'web-exposed': {
    desired: desiredService(
      {
        ...WEB,
        instances: 2,
        port: 80,
        processPort: 3000,
        env: { GREETING: 'hello $(SVC_NAME)' },
        mounts: [
          { path: '/cart', service: 'cart' },
          { path: '/$(SVC_NAME),1', service: 'counter' },
        ],
        callers: ['billing', 'ledger.finance'],
        hostnames: ['www.example.com'],
        resources: { memory: '256Mi' },
      },
      {
        exposedHostname: 'site-shop.apps.example.org',
        hostnames: ['site-shop.apps.example.org', 'www.example.com'],
      },
    ),
    installation: installation({
      ingress: {
        className: 'nginx',
        annotations: { 'cert-manager.io/cluster-issuer': 'letsencrypt' },
        certificates: 'service',
      },
    }),
  },
  'web-on-kubernetes-1.20': {
    desired: desiredService({ ...WEB, instances: 2 }),
    installation: installation({
      baseDomain: undefined,
      ingress: undefined,
      cluster: { disruptionBudgets: 'policy/v1beta1', hasSleepAction: false },
    }),
  },
};
