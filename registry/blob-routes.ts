// BlobRoutes: blobs and their uploads (OCI distribution, "Pull" and "Pushing blobs"). Bodies stream, and are checked while they do.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import type { BlobUpload } from './blob-upload.ts';
import type { ImageStore } from './image-store.ts';
import type { ProjectImages } from './project-images.ts';
import { RegistryError } from './registry-error.ts';
import { readBody } from './request-body.ts';
import { digestIn, offsetIn, type RouteParameters } from './requested.ts';

interface BlobRoute {
  readonly Params: RouteParameters;
  readonly Querystring: {
    readonly digest?: string;
    readonly mount?: string;
    readonly from?: string;
  };
  readonly Body: IncomingMessage | undefined;
}
type BlobRequest = FastifyRequest<BlobRoute>;

export const REPOSITORY_PATH = '/v2/:project/:service';
const UPLOADS_PATH = `${REPOSITORY_PATH}/blobs/uploads`;

export function addBlobRoutes(app: FastifyInstance, store: ImageStore): void {
  addReading(app, store);
  addUploads(app, store);
}

function addReading(app: FastifyInstance, store: ImageStore): void {
  app.get<BlobRoute>(
    `${REPOSITORY_PATH}/blobs/:digest`,
    { exposeHeadRoute: false },
    async ({ params }, reply) => {
      const { blobs } = await store.project(params.project);
      const digest = digestIn(params.digest);
      const size = await blobs.sizeOf(digest);
      if (size === undefined) throw unknownBlob();
      return blobHead(reply, digest, size).send(blobs.read(digest));
    },
  );
  app.head<BlobRoute>(`${REPOSITORY_PATH}/blobs/:digest`, async ({ params }, reply) => {
    const digest = digestIn(params.digest);
    const size = await (await store.project(params.project)).renewBlob(digest);
    if (size === undefined) throw unknownBlob();
    return blobHead(reply, digest, size).send();
  });
  app.delete(`${REPOSITORY_PATH}/blobs/:digest`, async () => {
    throw new RegistryError(
      405,
      'UNSUPPORTED',
      'blobs go by themselves when no manifest refers to them',
    );
  });
}

function addUploads(app: FastifyInstance, store: ImageStore): void {
  app.post<BlobRoute>(`${UPLOADS_PATH}/`, async (request, reply) => {
    const { params, query, body } = request;
    const project = await store.project(params.project);
    const mounted = await mountedBlob(project, request);
    if (mounted !== undefined) return created(reply, params, mounted);
    const upload = await project.blobs.begin(params.service);
    if (query.digest === undefined) return progress(reply.code(202), params, upload);
    return await finished(request, reply, { project, upload, body, offset: undefined });
  });
  app.get<BlobRoute>(`${UPLOADS_PATH}/:upload`, async ({ params }, reply) => {
    const { blobs } = await store.project(params.project);
    return progress(reply.code(204), params, blobs.upload(params.service, params.upload));
  });
  app.patch<BlobRoute>(`${UPLOADS_PATH}/:upload`, async (request, reply) => {
    const { params, body } = request;
    const project = await store.project(params.project);
    const upload = project.blobs.upload(params.service, params.upload);
    await append(project, upload, body, offsetOf(request));
    return progress(reply.code(202), params, upload);
  });
  app.put<BlobRoute>(`${UPLOADS_PATH}/:upload`, async (request, reply) => {
    const { params, body } = request;
    const project = await store.project(params.project);
    const upload = project.blobs.upload(params.service, params.upload);
    return await finished(request, reply, { project, upload, body, offset: offsetOf(request) });
  });
  app.delete<BlobRoute>(`${UPLOADS_PATH}/:upload`, async ({ params }, reply) => {
    const { blobs } = await store.project(params.project);
    const upload = blobs.upload(params.service, params.upload);
    if (upload.isBusy)
      throw new RegistryError(
        409,
        'BLOB_UPLOAD_INVALID',
        'another request is adding to this upload',
      );
    await blobs.discard(upload);
    return reply.code(204).send();
  });
}

/** Returns the digest of a blob that another repository of the same project has; undefined if it has to be sent. */
async function mountedBlob(
  project: ProjectImages,
  { params, query: { mount, from } }: BlobRequest,
): Promise<string | undefined> {
  if (mount === undefined || from?.startsWith(`${params.project}/`) !== true) return undefined;
  const digest = digestIn(mount);
  return (await project.renewBlob(digest)) === undefined ? undefined : digest;
}

async function finished(
  { params, query }: BlobRequest,
  reply: FastifyReply,
  part: {
    readonly project: ProjectImages;
    readonly upload: BlobUpload;
    readonly body: IncomingMessage | undefined;
    readonly offset: number | undefined;
  },
): Promise<FastifyReply> {
  const { project, upload, body, offset } = part;
  const digest = digestIn(query.digest);
  await append(project, upload, body, offset);
  await project.blobs.finish(upload, digest);
  return created(reply, params, digest);
}

/** Adds the body. An upload that can no longer become a blob is gone at once, so that it uses nothing of the quota. */
async function append(
  { blobs }: ProjectImages,
  upload: BlobUpload,
  body: IncomingMessage | undefined,
  offset: number | undefined,
): Promise<void> {
  if (body === undefined) return;
  try {
    await readBody(body, async (chunks) => await upload.append(chunks, offset));
  } catch (error) {
    const isOver =
      error instanceof RegistryError && ['DENIED', 'SIZE_INVALID'].includes(error.code);
    if (isOver) await blobs.discard(upload);
    throw error;
  }
}

function offsetOf({ headers }: BlobRequest): number | undefined {
  return offsetIn(headers['content-range'], headers['content-length']);
}

function progress(reply: FastifyReply, params: RouteParameters, upload: BlobUpload): FastifyReply {
  return reply
    .header('location', `/v2/${params.project}/${params.service}/blobs/uploads/${upload.id}`)
    .header('docker-upload-uuid', upload.id)
    .header('range', upload.range)
    .send();
}

function created(
  reply: FastifyReply,
  { project, service }: RouteParameters,
  digest: string,
): FastifyReply {
  return reply
    .code(201)
    .header('location', `/v2/${project}/${service}/blobs/${digest}`)
    .header('docker-content-digest', digest)
    .send();
}

function blobHead(reply: FastifyReply, digest: string, size: number): FastifyReply {
  return reply
    .type('application/octet-stream')
    .header('content-length', size)
    .header('docker-content-digest', digest);
}

function unknownBlob(): RegistryError {
  return new RegistryError(404, 'BLOB_UNKNOWN', 'there is no such blob in this project');
}
