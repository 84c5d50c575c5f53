// Identifiers of the control plane: the rules of ids, names, subjects and addresses, as text and as schemas.
import { NAME_PATTERN, PROJECT_ID_LENGTH_MAX, SERVICE_NAME_LENGTH_MAX } from '../service-name.ts';
import { text } from './schema.ts';
import {
  EMAIL_LENGTH_MAX,
  NAME_LENGTH_MAX,
  ORGANIZATION_ID_LENGTH_MAX,
  SUBJECT_LENGTH_MAX,
} from './vocabularies.ts';

const NO_CONTROLS = String.raw`^[^\u0000-\u001f\u007f-\u009f]*$`;
const EMAIL_PART = String.raw`[^\s@"(),:;<>\[\\\]\u0000-\u001f\u007f-\u009f]+`;
const ORGANIZATION_ID_PATTERN = '^[a-z][a-z0-9-]*$';
const EMAIL_PATTERN = String.raw`^\s*${EMAIL_PART}@${EMAIL_PART}\s*$`;

export const organizationId = text(
  'id of an organization: lower-case letters, digits and hyphens, a letter first',
  {
    minLength: 1,
    maxLength: ORGANIZATION_ID_LENGTH_MAX,
    pattern: ORGANIZATION_ID_PATTERN,
  },
);
export const projectId = text(
  'id of a project: lower-case letters, digits and hyphens, a letter first and no hyphen last',
  {
    minLength: 1,
    maxLength: PROJECT_ID_LENGTH_MAX,
    pattern: NAME_PATTERN,
  },
);
export const serviceName = text(
  'name of a service: lower-case letters, digits and hyphens, a letter first and no hyphen last',
  {
    minLength: 1,
    maxLength: SERVICE_NAME_LENGTH_MAX,
    pattern: NAME_PATTERN,
  },
);
export const subject = text(
  'subject of a person or a machine: the claim `sub` of its tokens, without control characters',
  {
    minLength: 1,
    maxLength: SUBJECT_LENGTH_MAX,
    pattern: NO_CONTROLS,
  },
);
export const email = text('e-mail address such as ann@example.com', {
  minLength: 3,
  maxLength: EMAIL_LENGTH_MAX,
  pattern: EMAIL_PATTERN,
});
export const displayName = text('name for people, without control characters', {
  minLength: 1,
  maxLength: NAME_LENGTH_MAX,
  pattern: NO_CONTROLS,
});

/** Schemas of all path parameters, by their names. */
export const PARAMETERS = { organizationId, projectId, name: serviceName, subject, email } as const;
export type ParameterName = keyof typeof PARAMETERS;

/** Returns whether an organization may have the id. */
export function isOrganizationId(id: string): boolean {
  return id.length <= ORGANIZATION_ID_LENGTH_MAX && new RegExp(ORGANIZATION_ID_PATTERN).test(id);
}
