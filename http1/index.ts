// The entry point of the package @svc/http1.
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
