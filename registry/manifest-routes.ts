// ManifestRoutes: manifests and tags (OCI distribution, "Pull", "Pushing manifests", "Listing tags", "Deleting").
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { IncomingMessage } from 'node:http';
import type { Digest } from '@svc/oci/digest';
import { MANIFEST_BYTES_MAX } from '@svc/oci/image-limits';
import { REPOSITORY_PATH } from './blob-routes.ts';
import { unknownName } from './caller.ts';
import type { ImageStore } from './image-store.ts';
import { unknownManifest } from './project-images.ts';
import { RegistryError } from './registry-error.ts';
import { readBody } from './request-body.ts';
import { pageIn, referenceIn, type RouteParameters } from './requested.ts';
import type { StoredManifest, StoredManifests } from './stored-manifests.ts';

interface ManifestRoute {
  readonly Params: RouteParameters;
  readonly Querystring: { readonly n?: string; readonly last?: string };
  readonly Body: IncomingMessage | undefined;
}

const MANIFEST_PATH = `${REPOSITORY_PATH}/manifests/:reference`;

export function addManifestRoutes(app: FastifyInstance, store: ImageStore): void {
  app.get<ManifestRoute>(MANIFEST_PATH, { exposeHeadRoute: false }, async ({ params }, reply) => {
    const found = await manifestOf(await repositoryOf(store, params), params.reference);
    return manifestHead(reply, found).send(Buffer.from(found.manifest.bytes));
  });
  app.head<ManifestRoute>(MANIFEST_PATH, async ({ params }, reply) => {
    const found = await manifestOf(await repositoryOf(store, params), params.reference);
    return manifestHead(reply, found).header('content-length', found.manifest.bytes.length).send();
  });
  app.put<ManifestRoute>(MANIFEST_PATH, async ({ params, body, headers }, reply) => {
    const { digest, tag } = referenceIn(params.reference);
    const mediaType = (headers['content-type'] ?? '').split(';')[0]!.trim();
    const project = await store.project(params.project);
    const bytes = body === undefined ? new Uint8Array() : await readBody(body, gathered);
    const stored = await project.put(params.service, { mediaType, bytes, digest, tag });
    return reply
      .code(201)
      .header('location', `/v2/${params.project}/${params.service}/manifests/${stored}`)
      .header('docker-content-digest', stored)
      .send();
  });
  app.delete<ManifestRoute>(MANIFEST_PATH, async ({ params }, reply) => {
    const { digest, tag } = referenceIn(params.reference);
    const project = await store.project(params.project);
    if (digest !== undefined) await project.remove(params.service, digest);
    else await project.untag(params.service, tag!);
    return reply.code(202).send();
  });
  app.get<ManifestRoute>(`${REPOSITORY_PATH}/tags/list`, async ({ params, query }, reply) => {
    const { countMax, after } = pageIn(query);
    const all = await (await repositoryOf(store, params)).tags();
    if (all.length === 0) throw unknownName();
    const rest = after === undefined ? all : all.filter((tag) => tag > after);
    const tags = rest.slice(0, countMax);
    const name = `${params.project}/${params.service}`;
    if (tags.length > 0 && tags.length < rest.length)
      reply.header('link', `</v2/${name}/tags/list?n=${countMax}&last=${tags.at(-1)}>; rel="next"`);
    return { name, tags };
  });
}

interface FoundManifest {
  readonly digest: Digest;
  readonly manifest: StoredManifest;
}

async function repositoryOf(
  store: ImageStore,
  { project, service }: RouteParameters,
): Promise<StoredManifests> {
  return (await store.project(project)).repository(service);
}

async function manifestOf(repository: StoredManifests, reference: string): Promise<FoundManifest> {
  const { digest: named, tag } = referenceIn(reference);
  const digest = named ?? (await repository.digestOf(tag!));
  const manifest = digest === undefined ? undefined : await repository.read(digest);
  if (digest === undefined || manifest === undefined) throw unknownManifest();
  return { digest, manifest };
}

function manifestHead(reply: FastifyReply, { digest, manifest }: FoundManifest): FastifyReply {
  return reply.type(manifest.mediaType).header('docker-content-digest', digest);
}

async function gathered(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of chunks) {
    parts.push(part);
    length += part.length;
    if (length > MANIFEST_BYTES_MAX)
      throw new RegistryError(
        413,
        'SIZE_INVALID',
        `a manifest may have ${MANIFEST_BYTES_MAX} bytes`,
      );
  }
  return Buffer.concat(parts);
}
