// KubernetesSettings: reads the settings svc.kubernetes.*. @svc/kit/settings-reader defines how they are given. The files that they name are read when the
// orchestrator is opened.
import { resolve } from 'node:path';
import { defaultGatewayId, isTrustDomain, parseSpiffeId } from '@svc/identity/spiffe-id';
import { invalidSetting, sectionNames, type SettingsReader } from '@svc/kit/settings-reader';
import {
  readServiceTokenSettings,
  serviceTokenSettingNames,
  type ServiceTokenSettings,
} from '../orchestration/service-tokens.ts';
import {
  KUBERNETES_DEFAULTS,
  KUBERNETES_RANGES,
  type KubernetesSection,
} from './kubernetes-section.ts';
import type { ResourceAmounts } from './manifests/installation.ts';

const SECTIONS = { kubernetes: { ...KUBERNETES_DEFAULTS } };
const RANGES = { kubernetes: KUBERNETES_RANGES };
const GROUP = 'svc.kubernetes';
const IMAGE = `${GROUP}.image`;
const NAMESPACE = `${GROUP}.namespace`;
const KUBECONFIG = `${GROUP}.kubeconfig`;
const CONTEXT = `${GROUP}.context`;
const NEW_CLUSTER = `${GROUP}.new-cluster`;
const TRUST_DOMAIN = `${GROUP}.trust-domain`;
const GATEWAY = `${GROUP}.gateway`;
const PULL_SECRETS = `${GROUP}.pull-secrets`;
const REGISTRY = `${GROUP}.platform-registry`;
const INGRESS_CLASS = `${GROUP}.ingress-class`;
const INGRESS_ANNOTATIONS = `${GROUP}.ingress-annotations-file`;
const INGRESS_CERTIFICATES = `${GROUP}.ingress-certificates`;
const STORAGE_CLASS = `${GROUP}.storage-class`;
const JOURNAL_SIZE = `${GROUP}.journal-size`;
const DATABASES = `${GROUP}.databases-file`;
const REMOTING_FROM = `${GROUP}.remoting-from`;
const DEFAULT_CPU = `${GROUP}.default-cpu`;
const DEFAULT_MEMORY = `${GROUP}.default-memory`;
const SIDECAR_CPU = `${GROUP}.sidecar-cpu`;
const SIDECAR_MEMORY = `${GROUP}.sidecar-memory`;

/** Names of the settings that are texts. */
const TEXTS: readonly string[] = [
  IMAGE,
  NAMESPACE,
  KUBECONFIG,
  CONTEXT,
  NEW_CLUSTER,
  TRUST_DOMAIN,
  GATEWAY,
  PULL_SECRETS,
  REGISTRY,
  INGRESS_CLASS,
  INGRESS_ANNOTATIONS,
  INGRESS_CERTIFICATES,
  STORAGE_CLASS,
  JOURNAL_SIZE,
  DATABASES,
  REMOTING_FROM,
  DEFAULT_CPU,
  DEFAULT_MEMORY,
  SIDECAR_CPU,
  SIDECAR_MEMORY,
  ...serviceTokenSettingNames(GROUP),
];

/** The dotted names of these settings. */
export const KUBERNETES_SETTING_NAMES: readonly string[] = [...sectionNames(SECTIONS), ...TEXTS];

export interface KubernetesSettings {
  /** Image of svc, which pods run. */
  readonly image: string;
  /** Namespace of the platform's own programs; undefined: that of the pod of the control plane. */
  readonly namespace: string | undefined;
  /** Absolute path of the kubeconfig; undefined: the control plane is a pod of the cluster. */
  readonly kubeconfig: string | undefined;
  /** Context of the kubeconfig; undefined: its current one. */
  readonly context: string | undefined;
  /** True: the cluster that answers at this start replaces the one in which services ran before. */
  readonly isNewCluster: boolean;
  readonly trustDomain: string;
  readonly gatewayId: string;
  readonly pullSecrets: readonly string[];
  /** Host of the installation's own registry; undefined: it has none. */
  readonly registry: string | undefined;
  readonly ingress: IngressSettings | undefined;
  /** Undefined: the default class of the cluster. */
  readonly storageClass: string | undefined;
  readonly journalSize: string;
  /** Absolute path of the file that says how the cluster makes databases; undefined: it makes none. */
  readonly databasesFile: string | undefined;
  readonly remotingFrom: 'cluster' | 'service';
  readonly defaultResources: ResourceAmounts;
  readonly sidecarResources: ResourceAmounts;
  readonly serviceTokens: ServiceTokenSettings;
  readonly section: KubernetesSection;
  /** Environment of the control plane, in which a cluster names its API server, and which a credential plugin gets. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface IngressSettings {
  readonly className: string;
  /** Absolute path of the file with annotations; undefined: there are none. */
  readonly annotationsFile: string | undefined;
  readonly certificates: 'controller' | 'service';
}

/** Values on which the settings depend beside their own. */
export interface KubernetesHostInputs {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** With its port, if it has one. */
  readonly baseDomain: string | undefined;
  /** Client with which users log in. */
  readonly clientId: string;
}

const LIST_LENGTH_MAX = 20;
/** Trust domain of the identities of an installation without a base domain. */
const TRUST_DOMAIN_DEFAULT = 'svc.localhost';
const LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const SUBDOMAIN =
  /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const VISIBLE = /^[\x21-\x7e]{1,500}$/;
const HOST = /^[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?(?::\d{1,5})?$/;
const CPU = /^(?:[1-9]\d{0,4}m|(?:0|[1-9]\d{0,3})(?:\.\d{1,3})?)$/;
const BYTES = /^[1-9]\d{0,14}(?:Ki|Mi|Gi|Ti|k|M|G|T)?$/;

/** Returns undefined if no cluster is to run services. Throws SVC_SETTING_INVALID. */
export function readKubernetesSettings(
  reader: SettingsReader,
  { environment, baseDomain, clientId }: KubernetesHostInputs,
): KubernetesSettings | undefined {
  const { kubernetes: section } = reader.sections(SECTIONS, RANGES);
  checkPauses(section);
  const text = (dotted: string, pattern: RegExp, wanted: string) => {
    const value = reader.text(dotted);
    if (value !== undefined && !pattern.test(value)) throw invalidSetting(dotted, value, wanted);
    return value;
  };
  const amounts = (cpuName: string, memoryName: string): ResourceAmounts => ({
    cpu: text(cpuName, CPU, 'a quantity of processors, such as 100m or 0.5') ?? '100m',
    memory: text(memoryName, BYTES, 'a quantity of bytes, such as 512Mi') ?? '512Mi',
  });
  const trustDomain = trustDomainOf(reader, baseDomain);
  const kubeconfig = reader.text(KUBECONFIG);
  const databasesFile = reader.text(DATABASES);
  const settings = {
    namespace: text(NAMESPACE, LABEL, 'the name of a namespace'),
    kubeconfig: kubeconfig === undefined ? undefined : resolve(kubeconfig),
    context: reader.text(CONTEXT),
    isNewCluster: reader.boolean(NEW_CLUSTER, false),
    trustDomain,
    gatewayId: gatewayIdOf(reader, trustDomain),
    pullSecrets: pullSecretsOf(reader),
    registry: text(REGISTRY, HOST, 'a host such as registry.example.com or registry:5000'),
    ingress: ingressOf(reader, text),
    storageClass: text(STORAGE_CLASS, SUBDOMAIN, 'the name of a StorageClass'),
    journalSize: text(JOURNAL_SIZE, BYTES, 'a quantity of bytes, such as 10Gi') ?? '10Gi',
    databasesFile: databasesFile === undefined ? undefined : resolve(databasesFile),
    remotingFrom: oneOf(reader, REMOTING_FROM, ['cluster', 'service']),
    defaultResources: amounts(DEFAULT_CPU, DEFAULT_MEMORY),
    sidecarResources: amounts(SIDECAR_CPU, SIDECAR_MEMORY),
    serviceTokens: readServiceTokenSettings(reader, GROUP, clientId),
    section,
    environment,
  };
  const image = text(IMAGE, VISIBLE, 'the reference of an image of svc');
  if (image !== undefined) return { image, ...settings };
  const given = TEXTS.find((name) => reader.text(name) !== undefined);
  if (given !== undefined)
    throw invalidSetting(
      IMAGE,
      '',
      `the image of svc that pods run, because ${given} is set and without an image no cluster runs services`,
    );
  return undefined;
}

type CheckedText = (dotted: string, pattern: RegExp, wanted: string) => string | undefined;

function ingressOf(reader: SettingsReader, text: CheckedText): IngressSettings | undefined {
  const className = text(INGRESS_CLASS, SUBDOMAIN, 'the name of an IngressClass');
  const annotations = reader.text(INGRESS_ANNOTATIONS);
  const certificates = oneOf(reader, INGRESS_CERTIFICATES, ['controller', 'service']);
  if (className === undefined) {
    const without = [INGRESS_ANNOTATIONS, INGRESS_CERTIFICATES].find(
      (name) => reader.text(name) !== undefined,
    );
    if (without !== undefined)
      throw invalidSetting(
        INGRESS_CLASS,
        '',
        `the class of Ingresses, because ${without} is set and without a class there are none`,
      );
    return undefined;
  }
  const annotationsFile = annotations === undefined ? undefined : resolve(annotations);
  return { className, annotationsFile, certificates };
}

function checkPauses({ watchPauseMinMs, watchPauseMaxMs }: KubernetesSection): void {
  if (watchPauseMaxMs < watchPauseMinMs)
    throw invalidSetting(
      `${GROUP}.watch-pause-max-ms`,
      String(watchPauseMaxMs),
      `at least ${GROUP}.watch-pause-min-ms, which is ${watchPauseMinMs}`,
    );
}

function trustDomainOf(reader: SettingsReader, baseDomain: string | undefined): string {
  const text = reader.text(TRUST_DOMAIN);
  if (text !== undefined && !isTrustDomain(text))
    throw invalidSetting(TRUST_DOMAIN, text, 'a trust domain, such as example.org');
  return text ?? baseDomain?.split(':')[0] ?? TRUST_DOMAIN_DEFAULT;
}

function gatewayIdOf(reader: SettingsReader, trustDomain: string): string {
  const text = reader.text(GATEWAY);
  if (text !== undefined && parseSpiffeId(text) === undefined)
    throw invalidSetting(GATEWAY, text, 'a SPIFFE ID, such as spiffe://example.org/gateway');
  return text ?? defaultGatewayId(trustDomain);
}

function pullSecretsOf(reader: SettingsReader): readonly string[] {
  const names = reader.list(PULL_SECRETS, [], [0, LIST_LENGTH_MAX]);
  const wrong = names.find((name) => !SUBDOMAIN.test(name));
  if (wrong !== undefined)
    throw invalidSetting(PULL_SECRETS, wrong, 'names of secrets, with commas between');
  return names;
}

/** Returns the first choice if there is no value. */
function oneOf<const Choice extends string>(
  reader: SettingsReader,
  dotted: string,
  choices: readonly [Choice, Choice],
): Choice {
  const text = reader.text(dotted);
  const found = choices.find((choice) => choice === text);
  if (text !== undefined && found === undefined)
    throw invalidSetting(dotted, text, choices.map((choice) => `'${choice}'`).join(' or '));
  return found ?? choices[0];
}
