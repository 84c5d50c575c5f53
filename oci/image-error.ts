// ImageError: a failure with an image, with a documented code. `docs/errors/<code>.md` explains each code.

export type ImageErrorCode =
  | 'SVC_IMAGE_MISSING'
  | 'SVC_IMAGE_INVALID'
  | 'SVC_IMAGE_DIGEST_MISMATCH'
  | 'SVC_IMAGE_TOO_LARGE'
  | 'SVC_IMAGE_LAYER_DAMAGED'
  | 'SVC_IMAGE_LAYER_UNSAFE'
  | 'SVC_IMAGE_NOT_A_MODULE'
  | 'SVC_IMAGE_NOT_RUNNABLE'
  | 'SVC_IMAGE_FOLDER_FULL'
  | 'SVC_IMAGE_UNWRITABLE'
  | 'SVC_IMAGE_REFERENCE_INVALID'
  | 'SVC_REGISTRY_UNAVAILABLE'
  | 'SVC_REGISTRY_REFUSED'
  | 'SVC_REGISTRY_ANSWER_INVALID'
  | 'SVC_REGISTRY_ADDRESS_REFUSED'
  | 'SVC_REGISTRY_CREDENTIALS_INVALID';

export class ImageError extends Error {
  readonly code: ImageErrorCode;

  /** `message`: one sentence about what happened and where, and one about what to do. */
  constructor(code: ImageErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.name = 'ImageError';
    this.code = code;
  }
}
