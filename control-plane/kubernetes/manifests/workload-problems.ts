// WorkloadProblems: what a descriptor asks for that its objects in a cluster cannot give.
import {
  hostingKind,
  PLATFORM_AUTH,
  Problems,
  type Problem,
  type ServiceDescriptor,
  type ServiceKey,
} from '@svc/client';
import { parseImageReference } from '@svc/oci/image-reference';
import type { KubernetesInstallation } from './installation.ts';
import { journalStorage } from './journal-storage.ts';

/** Paths are JSON pointers into the descriptor. */
export function workloadProblems(
  key: ServiceKey,
  descriptor: ServiceDescriptor,
  installation: KubernetesInstallation,
): readonly Problem[] {
  const problems = new Problems();
  checkImage(key, descriptor.image, installation.registry, problems.at('image'));
  checkJournal(descriptor, installation, problems);
  if ('auth' in descriptor && descriptor.auth !== undefined && installation.tokens === undefined)
    problems
      .at('auth')
      .add(
        `is ${PLATFORM_AUTH}: the operator of this installation has named no audience for access tokens of services`,
      );
  return problems.sorted();
}

/** The cluster pulls with secrets that all services of a project share, so it would pull the images of other projects as well. */
function checkImage(
  { project }: ServiceKey,
  image: string,
  registry: string | undefined,
  problems: Problems,
): void {
  const reference = parseImageReference(image);
  if (reference.kind === 'layout')
    problems.add(
      'is a layout of a folder: nodes of a cluster pull images from registries. Push it to one',
    );
  else if (isSameHost(reference.host, registry) && !reference.repository.startsWith(`${project}/`))
    problems.add(
      `is not one of the project ${project}: the registry ${registry} gives the images of a project to its own services only. Push the image as ${registry}/${project}/NAME`,
    );
}

/** Compares as whoever pulls does: `registry.example:443` is `registry.example`. */
function isSameHost(host: string, registry: string | undefined): boolean {
  const [one, other] = [host, registry].map((text) => URL.parse(`https://${text}`)?.host);
  return registry !== undefined && one === other;
}

function checkJournal(
  descriptor: ServiceDescriptor,
  installation: KubernetesInstallation,
  problems: Problems,
): void {
  const { instances = 1, database } = descriptor;
  const kind = hostingKind({ ...descriptor });
  if (database !== undefined && (kind === 'embedded' || kind === 'web'))
    problems
      .at('database')
      .add(
        kind === 'web'
          ? 'is declared: a web-hosted service has no journal'
          : 'is declared: a program with the runtime in it has its journal on a volume in this installation',
      );
  if (instances === 1 || journalStorage(descriptor, installation) !== 'volume') return;
  problems
    .at('instances')
    .add(
      `is more than 1: a journal on a volume is for one instance at a time${kind === 'embedded' ? ', and programs with the runtime in them have no other one here' : '. Declare a database (database.urlFrom)'}`,
    );
}
