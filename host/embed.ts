// The entry point for programs that use the host as a library. Its exports are a stable public interface.
// Programs define entities and endpoints in TypeScript, and createService runs them in the program's own process, with
// the engine, the journal, the HTTP server and the introspection that `svc run` has.
export * from '@svc/components/sdk';
export type { ServiceSettings } from './service/embedded-settings.ts';
export type { LogEntry } from '@svc/kit/log-entry';
export type { ResponsesOptions } from './service/embedded-responses.ts';
export type { Metric } from './introspection/program-metrics.ts';
export { createService } from './service/create-service.ts';
export type { EnvironmentOptions } from './service/environment-options.ts';
export type {
  CallOptions,
  ConfiguredOptions,
  ObservabilityOptions,
  Service,
  ServiceChange,
  ServiceOptions,
} from './service/embedded-options.ts';
export type { DatabaseOptions } from './service/storage-options.ts';
export type { ServiceCounts } from './service/service-counts.ts';
