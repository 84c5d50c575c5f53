// SettingsReference: writes docs/reference/settings.md. The settings of sections, with their defaults and ranges, are
// read from the code that declares them, so that they always match it. The table of the other settings is written here.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SECTION_DEFAULTS, SECTION_RANGES } from '../host/service/section-settings.ts';
import {
  CONTROL_PLANE_DEFAULTS,
  CONTROL_PLANE_RANGES,
} from '../control-plane/program/control-plane-section.ts';
import {
  ORCHESTRATOR_DEFAULTS,
  ORCHESTRATOR_RANGES,
} from '../control-plane/orchestration/orchestrator-section.ts';
import {
  LOGIN_PROVIDER_DEFAULTS,
  LOGIN_PROVIDER_RANGES,
} from '../login-provider/login-provider-section.ts';
import { REGISTRY_DEFAULTS, REGISTRY_RANGES } from '../registry/registry-section.ts';
import { GATEWAY_DEFAULTS, GATEWAY_RANGES } from '../gateway/gateway-section.ts';
import {
  KUBERNETES_DEFAULTS,
  KUBERNETES_RANGES,
} from '../control-plane/kubernetes/kubernetes-section.ts';
import { LOCAL_DEFAULTS, LOCAL_RANGES } from '../control-plane/local/local-section.ts';
import { ROLLOUT_DEFAULTS, ROLLOUT_RANGES } from '../control-plane/local/rollout-section.ts';
import { WEBHOOKS_DEFAULTS, WEBHOOKS_RANGES } from '../webhooks/program/webhooks-section.ts';
import { PROXY_DEFAULTS, PROXY_RANGES } from '../proxy/pod/proxy-section.ts';
import { CONTROL_PLANE_SETTINGS } from './control-plane-settings.ts';
import { dottedName, variableName } from '../kit/setting-name.ts';
import type { SettingValue } from '../kit/settings-reader.ts';

const root = join(import.meta.dirname, '..');

/** Section → the file whose interface documents its settings, and its title on the page. */
const DECLARED_IN = {
  http: ['host/http/http-settings.ts', 'HTTP server'],
  'http.cors': ['host/http/cors-settings.ts', 'Pages of other origins (CORS)'],
  engine: ['host/engine/engine-limits.ts', 'Entity engine'],
  wasm: ['host/hosting/wasm/wasm-limits.ts', 'Limits on a module'],
  process: ['host/hosting/process/process-settings.ts', 'Code in a process of its own'],
  journal: ['host/storage/journal-limits.ts', 'Journal'],
  timers: ['host/engine/timer-settings.ts', 'Timers'],
  views: ['model/view-limits.ts', 'Views'],
  consumers: ['host/consumers/consumer-settings.ts', 'Consumers'],
  calls: ['host/service-calls/call-settings.ts', 'Calls of other services'],
  auth: ['tokens/auth-section.ts', 'Access tokens'],
  log: ['kit/log-limits.ts', 'Log'],
  'log.files': ['kit/log-files-limits.ts', 'Log files'],
  standby: ['host/service/standby-settings.ts', 'Standby'],
  upgrade: ['host/service/upgrade-settings.ts', 'Check of an upgrade'],
  supervisor: ['host/shards/supervisor-limits.ts', 'Supervisor'],
  observability: ['host/introspection/observability/observability-limits.ts', 'Observability'],
} as const satisfies Record<keyof typeof SECTION_DEFAULTS, readonly [string, string]>;

/** A section of the page. */
interface Section {
  readonly name: string;
  /** Files whose interfaces document the settings. */
  readonly files: readonly string[];
  readonly title: string;
  readonly defaults: Readonly<Record<string, SettingValue>>;
  readonly ranges: Readonly<Record<string, readonly [number, number]>>;
}

const PROXY_SECTION: Section = {
  name: 'proxy',
  files: ['proxy/pod/proxy-section.ts', 'forward/server-section.ts', 'forward/forward-limits.ts'],
  title: 'Proxy of a web-hosted service',
  defaults: { ...PROXY_DEFAULTS },
  ranges: PROXY_RANGES,
};

const ORCHESTRATOR_SECTION: Section = {
  name: 'orchestrator',
  files: ['control-plane/orchestration/orchestrator-section.ts'],
  title: 'Orchestrator',
  defaults: { ...ORCHESTRATOR_DEFAULTS },
  ranges: ORCHESTRATOR_RANGES,
};

const LOCAL_SECTION: Section = {
  name: 'local',
  files: ['control-plane/local/local-section.ts'],
  title: 'Services of one machine',
  defaults: { ...LOCAL_DEFAULTS },
  ranges: LOCAL_RANGES,
};

const ROLLOUT_SECTION: Section = {
  name: 'rollout',
  files: ['control-plane/local/rollout-section.ts'],
  title: 'Replacing instances on one machine',
  defaults: { ...ROLLOUT_DEFAULTS },
  ranges: ROLLOUT_RANGES,
};

const KUBERNETES_SECTION: Section = {
  name: 'kubernetes',
  files: ['control-plane/kubernetes/kubernetes-section.ts'],
  title: 'Services in a Kubernetes cluster',
  defaults: { ...KUBERNETES_DEFAULTS },
  ranges: KUBERNETES_RANGES,
};

const CONTROL_PLANE_SECTION: Section = {
  name: 'control-plane',
  files: ['control-plane/program/control-plane-section.ts'],
  title: 'Control plane',
  defaults: { ...CONTROL_PLANE_DEFAULTS },
  ranges: CONTROL_PLANE_RANGES,
};

const GATEWAY_SECTION: Section = {
  name: 'gateway',
  files: ['gateway/gateway-section.ts', 'forward/server-section.ts', 'forward/forward-limits.ts'],
  title: 'Gateway',
  defaults: { ...GATEWAY_DEFAULTS },
  ranges: GATEWAY_RANGES,
};

const LOGIN_PROVIDER_SECTION: Section = {
  name: 'login-provider',
  files: ['login-provider/login-provider-section.ts'],
  title: 'Login provider',
  defaults: { ...LOGIN_PROVIDER_DEFAULTS },
  ranges: LOGIN_PROVIDER_RANGES,
};

const REGISTRY_SECTION: Section = {
  name: 'registry',
  files: ['registry/registry-section.ts'],
  title: 'Registry',
  defaults: { ...REGISTRY_DEFAULTS },
  ranges: REGISTRY_RANGES,
};

const WEBHOOKS_SECTION: Section = {
  name: 'webhooks',
  files: ['webhooks/program/webhooks-section.ts'],
  title: 'Webhook service',
  defaults: { ...WEBHOOKS_DEFAULTS },
  ranges: WEBHOOKS_RANGES,
};

function sectionText({ name, files, title, defaults, ranges }: Section): string {
  const documented = documentedKeys(
    files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n'),
  );
  const rows = Object.entries(defaults).map(([key, value]) => {
    const text = documented.get(key);
    if (text === undefined) throw new Error(`${files[0]}: '${key}' has no docstring of its own`);
    const range = rangeOf(value, ranges[key]);
    // A name in backticks may be another setting of the section; the page shows its dotted name.
    const words = text.replaceAll(/`(\w+)`/g, (word, other: string) =>
      other in defaults ? `\`${dottedName(name, other)}\`` : word,
    );
    return `| \`${dottedName(name, key)}\` | ${shown(value)} | ${range} | ${words} |`;
  });
  return `## ${title}\n\n| Setting | Default | Range | What it is |\n|---|---|---|---|\n${rows.join('\n')}\n`;
}

/** Settings of the gateway that are texts. */
const GATEWAY_SETTINGS = `\`svc gateway\`, the [gateway](gateway.md), has the settings of [its section](#gateway), \`svc.identity.folder\`, \`svc.identity.gateway\` (by
default \`spiffe://DOMAIN/gateway\`), \`svc.log\`, \`svc.log.*\`, and these:

| Setting | Short form | Default | What it is |
|---|---|---|---|
| \`svc.gateway.base-domain\` | \`--base-domain\` | | domain of derived hostnames and of the platform's, with a port if the gateway is reached at another one than 443 |
| \`svc.gateway.certificates\` | \`--certificates\` | | folder with \`NAME.crt\` and \`NAME.key\` of each certificate |
| \`svc.gateway.host\` | \`--host\` | 0.0.0.0 | address to listen on |
| \`svc.gateway.routes-socket\` | | none | socket at which the orchestrator publishes its routes. This setting or the next one is needed |
| \`svc.gateway.routes-file\` | | none | file of the routes, which is read at the start |
| \`svc.gateway.api-url\` | | none | URL on loopback of the control plane, for \`api.\` of the base domain |
| \`svc.gateway.webhooks-url\` | | none | URL on loopback of the webhook service, for the paths below \`/api/platform/v1/\` of \`api.\` |
| \`svc.gateway.login-url\` | | none | URL on loopback of the login provider, for \`login.\` of the base domain |
| \`svc.gateway.registry-url\` | | none | URL on loopback of the registry, for \`registry.\` of the base domain |`;

/** Settings of the login provider that are texts. */
const LOGIN_PROVIDER_SETTINGS = `\`svc login-provider\`, the [provider for development](../how-to/logging-in-for-development.md), has the settings of
[its section](#login-provider), \`svc.data\` (by default \`.svc/login-provider\`), \`svc.log\`, and these:

| Setting | Short form | Default | What it is |
|---|---|---|---|
| \`svc.login-provider.people\` | \`--people\` | | file with the people and machines that can log in, in YAML or JSON |
| \`svc.login-provider.audience\` | \`--audience\` | | audience of access tokens, an absolute URI |
| \`svc.login-provider.host\` | \`--host\` | 127.0.0.1 | loopback address to listen on; another one is refused |
| \`svc.login-provider.issuer\` | | the address that it listens on | origin under which clients reach it, if something forwards to it: \`https://login.svc.localhost:8443\` |
| \`svc.login-provider.tls-certificate\` | | none | PEM file with the certificate, and the intermediate ones after it. With \`svc.login-provider.tls-key\` it is served with TLS |
| \`svc.login-provider.tls-key\` | | none | PEM file with the key of that certificate |`;

/** Settings of the proxy that are texts. */
const PROXY_SETTINGS = `\`svc proxy\`, the [proxy of a web-hosted service](proxy.md), has the settings of [its section](#proxy-of-a-web-hosted-service), \`svc.name\`,
\`svc.project\`, \`svc.identity.*\`, \`svc.log\`, \`svc.log.*\`, \`svc.state-file\`, and these:

| Setting | Default | What it is |
|---|---|---|
| \`svc.proxy.host\` | 0.0.0.0 | address of the port for requests and of the readiness port |
| \`svc.proxy.base-domain\` | none | domain of the hostnames that the platform derives; without it, requests of the internet get no \`X-Forwarded-*\` |
| \`svc.proxy.services-file\` | none | JSON file in which services are found instead of DNS: \`{"services": {"shop/cart": ["127.0.0.1:9001"]}}\` |
| \`svc.proxy.sockets-folder\` | none | folder of Unix domain sockets: a service at the address \`127.0.0.1:9001\` is called at the socket \`127.0.0.1-9001.sock\` in it |
| \`svc.proxy.process-file\` | none | JSON file with the command of the process, which the proxy then starts ([Start the process](proxy.md#start-the-process)) |`;

/** Settings of the registry that are texts. */
const REGISTRY_SETTINGS = `\`svc registry\`, the [registry of an installation](registry.md), has the settings of [its section](#registry), \`svc.data\` (by
default \`.svc/registry\`), \`svc.log\`, and these:

| Setting | Short form | Default | What it is |
|---|---|---|---|
| \`svc.registry.control-plane-url\` | \`--control-plane\` | | URL of the control plane, which says who may use a project |
| \`svc.registry.host\` | \`--host\` | 127.0.0.1 | loopback address to listen on; another one is refused |
| \`svc.registry.pull-token-file\` | | \`pull-token\` in \`svc.data\` | file with the token by which the orchestrator pulls; the registry makes it if there is none |`;

/** Settings of the webhook service that are texts. */
const WEBHOOKS_SETTINGS = `\`svc webhook-service\`, the [webhook service](../how-to/running-the-webhook-service.md), has the settings of [its section](#webhook-service), of
[access tokens](#access-tokens), \`svc.auth.issuer\`, \`svc.auth.client-id\`, \`svc.auth.audience\` (without a default), \`svc.auth.roles-claim\`, \`svc.data\` (by default \`.svc/webhook-service\`), \`svc.deployed\`,
\`svc.log\`, \`svc.management.*\`, \`svc.running.dir\`, \`svc.observability.otlp-endpoint\`, \`svc.observability.otlp-headers\`, and these:

| Setting | Short form | Default | What it is |
|---|---|---|---|
| \`svc.webhooks.host\` | \`--host\` | 127.0.0.1 | address to listen on. Without TLS it has to be a loopback address |
| \`svc.webhooks.tls-certificate\` | | none | PEM file with the certificate of the API, and the intermediate ones after it. With \`svc.webhooks.tls-key\` the API is served with TLS |
| \`svc.webhooks.tls-key\` | | none | PEM file with the key of that certificate |
| \`svc.webhooks.master-key-file\` | | made in \`svc.data\`, for development | file with the master key: 32 bytes in hex or base64url. A deployed service needs it |
| \`svc.database.url-file\` | | none | file with the URL of [a PostgreSQL database](../how-to/running-the-webhook-service.md#keep-everything-in-a-database) that holds everything, instead of \`svc.data\` |
| \`svc.database.url-variable\` | | none | name of an environment variable with that URL, instead of a file |
| \`svc.database.authorities-file\` | | those that Node trusts | PEM file with the authorities of that server's certificate, where [the URL](postgresql.md#the-url) names none (\`sslrootcert\`); read for each connection |
| \`svc.webhooks.receiver-authorities\` | | none | PEM file with certificates of authorities that receivers may have beside those that everybody trusts |
| \`svc.webhooks.tenants-claim\` | | \`tenants\` | claim with the id of the caller's tenant, or the list of them |
| \`svc.webhooks.admin-role\` | | \`tenant-admin\` | role of those who administer their tenants' webhooks |
| \`svc.webhooks.platform-role\` | | \`platform\` | role of the platform, which reports datasets and removes tenants |`;

/** Settings of `svc run` that are texts. */
const SERVICE_SETTINGS = `| Setting | Short form | Default | What it is |
|---|---|---|---|
| \`svc.http.port\` | \`--port\` | 9000 | HTTP port; 0 takes a free one |
| \`svc.http.host\` | \`--host\` | 127.0.0.1 | address to listen on |
| \`svc.http.cors.origins\` | \`--cors\` | none | origins whose pages may call the service, separated by commas ([Calling from a browser](../how-to/calling-from-a-browser.md)) |
| \`svc.data\` | \`--data\` | \`.svc/NAME\` | folder of the journal |
| \`svc.name\` | \`--name\` | the module file's name | name of the service: lower-case letters, digits and hyphens; other services can call it if a letter is first |
| \`svc.log\` | \`--log\` | \`text\` on a terminal, else \`json\` | form of the log |
| \`svc.database.url-file\` | | none | file with the URL of [a PostgreSQL database](../how-to/postgresql.md) that holds the journal, instead of the data folder ([reference](postgresql.md)) |
| \`svc.database.url-variable\` | | none | name of an environment variable with that URL, instead of a file |
| \`svc.database.authorities-file\` | | those that Node trusts | PEM file with the authorities of that server's certificate, where [the URL](postgresql.md#the-url) names none (\`sslrootcert\`); read for each connection |
| \`svc.remoting.host\` | | \`svc.http.host\` | address on which a service with a database takes the calls of its [other nodes](../how-to/several-machines.md) |
| \`svc.remoting.port\` | | 17355 if deployed, otherwise a free one | port on which it does so; 0 takes a free one. [Keep everybody else away from it](remoting.md#security) |
| \`svc.remoting.advertised-host\` | | \`svc.remoting.host\`; if that means all addresses, the first address of this machine that is not loopback | host by which the other nodes reach this one |
| \`svc.remoting.tls\` | | false | whether nodes call each other with [mutual TLS](remoting.md#mutual-tls), by the certificates of \`svc.identity.folder\`; the same in all nodes of a service |
| \`svc.process.address\` | \`--process\` | none | address of this machine at which [a process](../how-to/process.md) holds the code of the service, in place of a module: \`127.0.0.1:9010\` |
| \`svc.process.command\` | \`--process-command\` | none | command that starts such a process: a program and its arguments, without a shell. The process gets a free port, and is started again when it ends |
| \`svc.process.watch\` | | none | folder whose changes start the command again: for developing |
| \`svc.process.file\` | | none | JSON file with the command of that process, which the runtime then starts, as [svc proxy does](proxy.md#start-the-process). The control plane writes it |
| \`svc.configuration.file\` | \`--configuration\` | none | file with the values of the module's [configuration](../how-to/configuration.md), in YAML or JSON |
| \`svc.configuration.folder\` | \`--configuration-folder\` | none | folder with a file for each of these values |
| \`svc.configuration.variables\` | | none | JSON file with texts by their names: the variables that a [service's descriptor](../how-to/configuration.md#in-an-installation) declares for the configuration. The control plane writes it |
| \`svc.configuration.secrets\` | | none | folder from which the secrets are read that the module declares; it may have other files |
| \`svc.shards\` | \`--shards\` | 1 | threads that serve the service, 1 to 256 ([Shards](shards.md)) |
| \`svc.ignore-components\` | \`--ignore-components\` | none | components, separated by commas, that you removed from the module on purpose: their events in the journal are ignored ([SVC_MANIFEST_UNREADABLE](../errors/SVC_MANIFEST_UNREADABLE.md)) |
| \`svc.deployed\` | \`--deployed\` | \`false\` | whether this is a deployed instance |
| \`svc.standby\` | \`--standby\` | \`false\` | whether the service waits until no other process uses the data folder ([Replacing a running service](../how-to/replacing-a-running-service.md)) |
| \`svc.upgrade.from\` | | none | module that uses the data folder now; in standby the states that it folds are compared as well |
| \`svc.state-file\` | | none | file in which the service says how far it is ([State file](../how-to/replacing-a-running-service.md#the-state-file)) |
| \`svc.log.files.dir\` | | none | folder of log files that the service writes itself, instead of stderr ([Log files](../how-to/replacing-a-running-service.md#log-files)) |
| \`svc.project\` | | none | project of a deployed service, which belongs to its [identity](identity.md): lower-case letters, digits and hyphens, at most 57 |
| \`svc.identity.folder\` | | none | folder with \`tls.crt\`, \`tls.key\` and \`ca.crt\`; with it the service listens with mutual TLS |
| \`svc.identity.trust-domain\` | | none | trust domain of the installation, such as \`example.org\` |
| \`svc.identity.gateway\` | | none | SPIFFE ID of the gateway, whose requests are those of the internet |
| \`svc.http.enabled\` | | \`true\` | whether the service has an HTTP server; \`false\`: nothing listens on its port |
| \`svc.management.port\` | | 7626 | port of the management server of a deployed service; 0 takes a free one |
| \`svc.management.host\` | | 0.0.0.0 | address that the management server listens on |
| \`svc.running.dir\` | | \`~/.svc/running\` | folder in which a service that is not deployed registers, so that the console and other services find it |
| \`svc.calls.services-file\` | | none | JSON file in which a deployed service finds the services that it calls, instead of DNS: \`{"services": {"shop/cart": ["127.0.0.1:9001"]}}\` ([its form](proxy.md#run-the-proxy)) |
| \`svc.calls.sockets-folder\` | | none | folder of the Unix domain sockets by which a deployed service calls others, instead of their addresses. One for \`127.0.0.1:9001\` is \`127.0.0.1-9001.sock\` in the folder of its project, whose name has the first 16 digits of the project's SHA-256. The absolute path of the folder has at most 63 bytes |
| \`svc.auth.issuer\` | | none | URLs of the identity providers whose [access tokens](../how-to/bearer-tokens.md) count, exactly as their tokens have them, separated by commas; at most 8 |
| \`svc.auth.audience\` | | none | audiences, separated by commas, one of which an access token must have; needed with an issuer |
| \`svc.auth.roles-claim\` | | \`realm_access.roles\` | claim with the list of a caller's roles: names with full stops between, \`\\.\` for a full stop in a name |
| \`svc.auth.scopes-claim\` | | \`scope\` | claim with the scopes of a token: a text with blanks between them, or a list |
| \`svc.auth.keys-socket\` | | none | Unix domain socket at which a deployed service reads the keys of these providers, instead of at their addresses. The control plane listens there for [processes](../how-to/deploying-a-process.md) |
| \`svc.auth.development-tokens\` | \`--development-tokens\` | \`false\` | whether access tokens count that \`svc token\` makes; not for deployed services |
| \`svc.observability.otlp-endpoint\` | | none | URL to which spans are exported with OTLP over HTTP; without a path, \`/v1/traces\` is added |
| \`svc.observability.otlp-headers\` | | none | headers of the export, \`NAME=VALUE\`, separated by commas; they are never logged |`;

export function settingsReference(): string {
  const sections = Object.entries(DECLARED_IN).map(([name, [file, title]]) =>
    sectionText({
      name,
      files: [file],
      title,
      defaults: SECTION_DEFAULTS[name as keyof typeof SECTION_DEFAULTS],
      ranges: SECTION_RANGES[name as keyof typeof SECTION_DEFAULTS],
    }),
  );
  return `# Settings

Every setting has a dotted name. You can set it in two ways; a flag takes precedence over the environment:

1. as a flag: \`--set svc.http.answer-timeout-ms=5000\`, or the short form if there is one;
2. in the environment: \`${variableName('svc.http.answer-timeout-ms')}=5000\`.

Otherwise it has its default. An unknown name after \`--set\` is [SVC_USAGE](../errors/SVC_USAGE.md), and an invalid value
[SVC_SETTING_INVALID](../errors/SVC_SETTING_INVALID.md). Numbers are integers and not negative. The entries of a list are separated
by commas; \`none\` is the empty list.

${SERVICE_SETTINGS}

A deployed service (\`svc run --deployed\`) has other defaults: the module is \`/service/module.wasm\`, the
journal is in \`/data\`, it listens on \`0.0.0.0\`, logs JSON, and has as many shards as the process
may use cores. Without an [identity](identity.md) every caller counts as \`internet\`, also on loopback. A route with the access rule
\`local\` admits nobody.

${PROXY_SETTINGS}

${CONTROL_PLANE_SETTINGS}

${GATEWAY_SETTINGS}

${LOGIN_PROVIDER_SETTINGS}

${REGISTRY_SETTINGS}

${WEBHOOKS_SETTINGS}

${sections.join('\n')}
${sectionText(PROXY_SECTION)}
${sectionText(CONTROL_PLANE_SECTION)}
${sectionText(ORCHESTRATOR_SECTION)}
${sectionText(LOCAL_SECTION)}
${sectionText(ROLLOUT_SECTION)}
${sectionText(KUBERNETES_SECTION)}
${sectionText(GATEWAY_SECTION)}
${sectionText(LOGIN_PROVIDER_SECTION)}

${sectionText(REGISTRY_SECTION)}
${sectionText(WEBHOOKS_SECTION)}`;
}

/** Returns the range of a setting; every number and every list has one. */
function rangeOf(value: SettingValue, range: readonly [number, number] | undefined): string {
  if (typeof value === 'boolean') return '`true` or `false`';
  const [min, max] = range!;
  return typeof value === 'number'
    ? `${shown(min)} to ${shown(max)}`
    : `${shown(min)} to ${shown(max)} entries`;
}

function shown(value: SettingValue): string {
  if (typeof value === 'boolean') return `\`${value}\``;
  if (typeof value !== 'number') return value.length === 0 ? 'none' : `\`${value.join(',')}\``;
  return value === Number.MAX_SAFE_INTEGER ? '2⁵³' : value.toLocaleString('en-US');
}

/** Returns the doc comment of each `readonly` number, boolean or list of strings, on one line, by its name. */
function documentedKeys(source: string): ReadonlyMap<string, string> {
  const pattern =
    /\/\*\*[\s*]*((?:(?!\*\/)[\s\S])*?)\s*\*\/\s*readonly (\w+): (?:number|boolean|readonly string\[\]);/g;
  return new Map(
    [...source.matchAll(pattern)].map(([, text, key]) => [
      key!,
      text!.replaceAll(/\s*\n\s*\*\s*/g, ' ').replaceAll('|', '\\|'),
    ]),
  );
}
