// FolderImports: which folders a folder may import, beside itself and packages. import-rules.ts checks it.
/** Descriptions of guest sources and the locations of faults in them, for every hosting. */
const SOURCES = ['host/hosting/guest-source.ts', 'host/hosting/source-locations.ts'];
const WASM = 'host/hosting/wasm';
/** A folder and the folders that it may import beside itself. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  // The layers of HTTP/1.1: only connections know sockets.
  'http1/messages': [],
  'http1/grammar': ['http1/messages'],
  'http1/readers': ['http1/grammar', 'http1/messages'],
  'http1/writers': ['http1/grammar', 'http1/messages'],
  'http1/connections': ['http1/grammar', 'http1/messages', 'http1/readers', 'http1/writers'],
  http1: [],
  'host/engine': [],
  // The layers of the wasm hosting, from reading bytes to running a module.
  'host/hosting/wasm/binary': ['host/hosting/wasm/wasm-limits.ts'],
  'host/hosting/wasm/metering': [`${WASM}/binary`, `${WASM}/wasm-limits.ts`],
  'host/hosting/wasm/locations': [
    'host/hosting/wasm/admission',
    'host/hosting/wasm/binary',
    'host/hosting/wasm/metering',
    'host/hosting/wasm/wasm-limits.ts',
  ],
  'host/hosting/wasm/admission': [
    'host/hosting/wasm/binary',
    'host/hosting/wasm/metering',
    'host/hosting/wasm/wasm-limits.ts',
  ],
  'host/hosting/wasm/binding': [
    'host/engine/needs',
    'host/hosting/wasm/binary',
    'host/hosting/wasm/wasm-limits.ts',
  ],
  'host/hosting/wasm/instances': [
    'host/engine/needs',
    'host/hosting/wasm/admission',
    'host/hosting/wasm/binary',
    'host/hosting/wasm/binding',
    'host/hosting/wasm/metering',
    'host/hosting/wasm/wasm-limits.ts',
  ],
  'host/hosting/wasm': ['host/engine/needs'],
  // It runs the components of the embedded hosting, in a thread of their own.
  'host/hosting/program': [
    'host/engine/needs',
    'host/hosting/guest-source.ts',
    'host/hosting/stack-line.ts',
  ],
  // start-guest.ts knows every hosting; beside it, only the composition does.
  'host/hosting': ['host/engine/needs'],
  // It reads a journal with a source of guests, and serves nothing.
  'host/history': [
    'host/engine',
    ...SOURCES,
    'host/hosting/stack-line.ts',
    'host/hosting/start-guest.ts',
    'host/storage/journal-inspection.ts',
    'host/storage/journal-location.ts',
    'host/storage/journal-preview.ts',
    'host/storage/journal-progress.ts',
    'host/storage/journal-reading.ts',
    'host/storage/stored-views.ts',
    // It folds views into temporary rows.
    'host/storage/views/temporary-rows.ts',
    'host/system.ts',
    'host/views',
  ],
  // What a shard records and counts, in memory that it shares with the main thread.
  'host/shards/recorder': ['host/engine/needs'],
  'host/shards': [
    'host/engine',
    'host/hosting/guest-source.ts',
    'host/http',
    // The type alone: a shard is given its settings.
    'host/consumers/consumer-settings.ts',
    'host/service-calls/call-settings.ts',
    // The types alone: a shard's journal is a value that they pass on.
    'host/storage/cluster-inspection.ts',
    'host/storage/cluster-nodes.ts',
    'host/storage/journal-connection.ts',
  ],
  // Connections between nodes: below the protocol that shards use, and knowing nothing of what they serve.
  'host/remoting': ['host/shards', 'host/storage/cluster-nodes.ts'],
  'host/introspection/management': ['host/engine/needs', 'host/storage/cluster-nodes.ts'],
  'host/introspection/observability': [
    'host/engine/needs',
    'host/shards/recorder',
    'host/storage/cluster-nodes.ts',
  ],
  'host/introspection': [
    'host/engine',
    'host/history/reader',
    'host/hosting/guest-source.ts',
    'host/http/answers.ts',
    'host/runtime-version.ts',
    'host/shards',
    'host/storage/cluster-nodes.ts',
    'host/system.ts',
  ],
  'host/dev': [
    'host/history',
    'host/hosting/guest-source.ts',
    'host/shards',
    'host/storage/journal-location.ts',
    'host/system.ts',
  ],
  // The tools read a journal that another process may be writing. A serving shard uses none of them.
  'host/storage/sqlite/tools': [
    'host/engine/needs',
    'host/storage/journal-end.ts',
    'host/storage/journal-inspection.ts',
    'host/storage/journal-location.ts',
    'host/storage/journal-progress.ts',
    'host/storage/journal-scan.ts',
    'host/storage/sqlite',
    'host/storage/verification-step.ts',
    'host/storage/work-inspection.ts',
  ],
  'host/storage/sqlite': [
    'host/engine/needs',
    'host/storage/journal-contents.ts',
    'host/storage/journal-end.ts',
    'host/storage/journal-limits.ts',
    'host/storage/journal-location.ts',
    'host/storage/journal-series.ts',
    'host/storage/journal-takeover.ts',
    'host/storage/outcome-text.ts',
    'host/storage/timer-administration.ts',
    'host/storage/timer-alarm.ts',
    'host/storage/stored-timer-rules.ts',
    'host/storage/timer-series.ts',
    'host/storage/work-inspection.ts',
    // The writer's thread alone finds the first occurrences of schedules.
    'host/schedule',
  ],
  'host/storage/postgres': [
    'host/engine/needs',
    // A node names the version of the runtime.
    'host/runtime-version.ts',
    'host/storage/cluster-inspection.ts',
    'host/storage/cluster-nodes.ts',
    'host/storage/journal-contents.ts',
    'host/storage/journal-end.ts',
    'host/storage/journal-entries.ts',
    'host/storage/journal-inspection.ts',
    'host/storage/journal-limits.ts',
    'host/storage/journal-location.ts',
    'host/storage/journal-progress.ts',
    'host/storage/journal-scan.ts',
    'host/storage/journal-series.ts',
    'host/storage/journal-takeover.ts',
    'host/storage/lane-administration.ts',
    'host/storage/lane-changes.ts',
    'host/storage/stored-timer-rules.ts',
    'host/storage/timer-administration.ts',
    'host/storage/timer-alarm.ts',
    'host/storage/timer-series.ts',
    'host/storage/outcome-text.ts',
    'host/storage/verification-step.ts',
    'host/storage/view-walk',
    'host/storage/work-inspection.ts',
    'host/schedule',
    'host/system.ts',
  ],
  // What the stores of views have in common: how values compare, and how a query walks an index.
  'host/storage/view-walk': ['host/engine/needs'],
  // It shares with the journal how errors of SQLite are read and logs are kept short.
  'host/storage/views': [
    'host/engine/needs',
    'host/storage/sqlite/log-checkpoint.ts',
    'host/storage/sqlite/sqlite-failure.ts',
    'host/storage/view-walk',
  ],
  'host/storage/memory': [
    'host/engine/needs',
    'host/schedule',
    'host/storage/timer-administration.ts',
    'host/storage/timer-alarm.ts',
    'host/storage/stored-timer-rules.ts',
    'host/storage/timer-series.ts',
    'host/storage/view-walk',
  ],
  'host/storage': ['host/engine/needs', 'host/schedule', 'host/system.ts'],
  // Only the writer of a journal and the dispatcher evaluate schedules: croner is in no thread that runs a module.
  'host/schedule': [],
  // It starts what is due, and gets timers, clock and firings from outside.
  'host/timers': ['host/engine'],
  // It delivers the events of a feed, and shares the clocks and the sleeper of the timers' dispatcher.
  'host/consumers': ['host/engine', 'host/timers/dispatcher.ts'],
  // It reads what an operator gives to a module, and knows nothing of what runs the module.
  'host/configuration': [],
  // It takes changes from outside, and knows nothing of what makes them.
  'host/control': [],
  // It folds the events of a feed into the rows of views.
  'host/views': ['host/engine'],
  // For tests of programs that embed the host. Nothing of the host uses it.
  'host/testing': ['host/engine/needs'],
  'host/service-calls': [],
  'host/http/requests': ['host/engine', 'host/http'],
  'host/http': ['host/engine/needs'],
  'guest-sdk/assembly': [],
  'guest-sdk/compiler': [],
  // It runs modules in the runtime itself, which it knows as the package @svc/host.
  'guest-sdk/testing': ['guest-sdk/compiler'],
  // Images of modules. It runs nothing of them, and knows neither host nor platform.
  oci: [],
  // Commands of a control plane, in folders of the user.
  'cli/platform': ['cli'],
  // Programs of an installation, as processes of this machine.
  'cli/one-machine': ['cli'],
  cli: [],
  // It runs in the browser, and knows the types of what its server tells it.
  'console/page': [],
  'console/server': [],
  // On a developer's machine; it knows what forwards requests by an interface.
  'proxy/web': [],
  // Beside a process in a pod.
  'proxy/pod': [],
  proxy: [],
  // What entities decide, each by itself. Flows span entities, and consumers finish the flows that were cut off.
  'control-plane/model': [],
  'control-plane/flows': ['control-plane/model'],
  'control-plane/consumers': ['control-plane/flows', 'control-plane/model'],
  // What runs the services, by an interface: what should run follows from the entities.
  'control-plane/orchestration': ['control-plane/flows/service-id.ts', 'control-plane/model'],
  // The certificates of the installation. It knows nothing of what runs but folders and names.
  'control-plane/authorities': [],
  // Services as processes of this machine. It knows the control plane by the interface of a driver alone.
  'control-plane/local': ['control-plane/authorities', 'control-plane/orchestration'],
  // The objects of services in a cluster, as pure functions. They know the control plane by the interface of a driver alone.
  'control-plane/kubernetes/manifests': ['control-plane/orchestration'],
  'control-plane/kubernetes': ['control-plane/orchestration'],
  // The API of a cluster: it knows no kind of object, and nothing of services.
  'control-plane/kubernetes/api': [],
  // The process: it joins all parts of the control plane.
  'control-plane/program': ['control-plane'],
  // Who may do what, before a handler runs; handlers judge what depends on their input.
  'control-plane/access': ['control-plane/flows', 'control-plane/model'],
  'control-plane/views': ['control-plane/flows/service-id.ts', 'control-plane/model'],
  'control-plane/endpoints': [
    'control-plane/access',
    'control-plane/flows',
    'control-plane/views',
    'control-plane/model',
    'control-plane/orchestration',
  ],
  // The assembly joins all parts.
  'control-plane': [],
  // APIs made from tables of routes. It knows no table.
  api: [],
  'login-provider': [],
  routing: [],
  // Judging access tokens. It knows nothing of what callers may do.
  tokens: [],
  // What strangers name may not lead into the operator's networks.
  addresses: [],
  gateway: [],
  registry: [],
  // One attempt of a delivery. It knows nothing of subscriptions and schedules.
  'webhooks/sending': [],
  // What a tenant subscribes to: checks, matching, and what is stored sealed.
  'webhooks/subscriptions': ['webhooks/model', 'webhooks/sending'],
  // What webhooks store, and what follows from it. It knows nothing of requests and sockets.
  'webhooks/model': [],
  'webhooks/views': ['webhooks/model'],
  'webhooks/segments': ['webhooks/model'],
  // Where everything is that is stored: a folder or a database.
  'webhooks/storage': ['webhooks/segments', 'webhooks/subscriptions'],
  'webhooks/log': ['webhooks/model', 'webhooks/segments', 'webhooks/views'],
  'webhooks/consumers': ['webhooks/model', 'webhooks/segments'],
  'webhooks/attempts': [
    'webhooks/log',
    'webhooks/model',
    'webhooks/segments',
    'webhooks/sending',
    'webhooks/views',
  ],
  // The routes of the API. What they call is given to them.
  'webhooks/endpoints': ['webhooks/log'],
  // Who may do what for a tenant, before a handler runs.
  'webhooks/access': [],
  // The process: it joins all parts of the webhook service.
  'webhooks/program': ['webhooks'],
  // The assembly joins all parts.
  webhooks: [],
  // It measures the runtime from outside, and the engine through its folders.
  bench: ['host', 'control-plane', 'guest-sdk/compiler', 'test/support'],
  examples: [],
  scripts: [
    'cli',
    'contract',
    'control-plane/kubernetes/kubernetes-section.ts',
    'control-plane/local/local-section.ts',
    'control-plane/local/rollout-section.ts',
    'control-plane/model/claims.ts',
    'control-plane/model/email.ts',
    'control-plane/model/organization.ts',
    'control-plane/model/pointers.ts',
    'control-plane/model/project.ts',
    'control-plane/orchestration/bounded-logs.ts',
    'control-plane/orchestration/orchestrator-section.ts',
    'control-plane/program/control-plane-section.ts',
    'gateway/gateway-answers.ts',
    'gateway/gateway-section.ts',
    'kit/setting-name.ts',
    'login-provider/login-provider-section.ts',
    'kit/settings-reader.ts',
    'registry/registry-section.ts',
    'webhooks/model/attempt-schedule.ts',
    'webhooks/program/webhooks-section.ts',
    'webhooks/sending/attempt-error.ts',
    'proxy/pod/proxy-section.ts',
    'proxy/pod/proxy-settings.ts',
    'host/history/upgrade-finding.ts',
    'host/service/section-settings.ts',
    'host/service/settings.ts',
    'test/support',
    'tokens/auth-section.ts',
  ],
};
