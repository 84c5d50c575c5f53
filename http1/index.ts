// The entry point of the package @svc/http1.
export { foldedName } from './grammar/folded-name.ts';
export { FieldList, NO_FIELDS } from './messages/field-list.ts';
export {
  failure,
  type FailureCode,
  type FailureStatus,
  type MessageFailure,
} from './messages/failure.ts';
export type { Framing } from './messages/framing.ts';
export type { HttpVersion, RequestHead, ResponseHead } from './messages/heads.ts';
export { DEFAULT_MESSAGE_LIMITS, type MessageLimits } from './messages/limits.ts';
export type { RequestPart, ResponsePart } from './messages/parts.ts';
export { RequestReader } from './readers/request-reader.ts';
export { ResponseReader } from './readers/response-reader.ts';
export { CHUNK_END, LAST_CHUNK, chunkHead, encodeTrailers } from './writers/chunk-writer.ts';
export { encodeRequestHead, encodeResponseHead } from './writers/head-writer.ts';
export type { BodyReceiver, BodySink } from './connections/body.ts';
export type {
  ClientExchange,
  ClientRequest,
  ResponseReceiver,
} from './connections/client-exchange.ts';
export type { ClientConnection } from './connections/client-connection.ts';
export type { ClientFailure } from './connections/client-failure.ts';
export {
  type ClientLimits,
  type ClientTimes,
  DEFAULT_CLIENT_LIMITS,
  DEFAULT_CLIENT_TIMES,
} from './connections/client-limits.ts';
export { type Connect, type Connected, tcpConnect } from './connections/connect.ts';
export { serveListener } from './connections/listener.ts';
export { Pool, type PoolOptions, type Taken, type Taking } from './connections/pool.ts';
export type { ServerConnection } from './connections/server-connection.ts';
export { ServerConnections, type ServerOptions } from './connections/server-connections.ts';
export type { ServerExchange } from './connections/server-exchange.ts';
export type { ServerHandler } from './connections/server-handler.ts';
export type { Refusal, WholeResponse } from './connections/whole-responses.ts';
export {
  DEFAULT_SERVER_LIMITS,
  DEFAULT_SERVER_TIMES,
  type ServerLimits,
  type ServerTimes,
} from './connections/server-limits.ts';
export type { ByteSocket, Transport } from './connections/socket-end.ts';
export type { OnRead } from './connections/socket-input.ts';
export { Sweep, type Swept } from './connections/sweep.ts';
