// RegistryError: a refusal in the error form of OCI distribution: a status, a code of the specification, and a message.

export type RegistryErrorCode =
  | 'BLOB_UNKNOWN'
  | 'BLOB_UPLOAD_INVALID'
  | 'BLOB_UPLOAD_UNKNOWN'
  | 'DENIED'
  | 'DIGEST_INVALID'
  | 'MANIFEST_BLOB_UNKNOWN'
  | 'MANIFEST_INVALID'
  | 'MANIFEST_UNKNOWN'
  | 'NAME_UNKNOWN'
  | 'SIZE_INVALID'
  | 'TAG_INVALID'
  | 'TOOMANYREQUESTS'
  | 'UNAUTHORIZED'
  | 'UNAVAILABLE'
  | 'UNKNOWN'
  | 'UNSUPPORTED';

export interface RegistryErrorBody {
  readonly errors: readonly { readonly code: RegistryErrorCode; readonly message: string }[];
}

export class RegistryError extends Error {
  readonly status: number;
  readonly code: RegistryErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: RegistryErrorCode,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.name = 'RegistryError';
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

export function errorBody(code: RegistryErrorCode, message: string): RegistryErrorBody {
  return { errors: [{ code, message }] };
}
