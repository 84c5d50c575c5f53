// Identifiers of the control plane: the rules of ids, names, subjects and addresses, as text and as schemas.
import { NAME_PATTERN, PROJECT_ID_LENGTH_MAX, SERVICE_NAME_LENGTH_MAX } from '../service-name.ts';
import { REFUSED, text } from './schema.ts';
import {
  EMAIL_LENGTH_MAX,
  NAME_LENGTH_MAX,
  ORGANIZATION_ID_LENGTH_MAX,
  SUBJECT_LENGTH_MAX,
} from './vocabularies.ts';

// Classes of characters by their numbers, since not every language's regular expressions know the properties of Unicode.
const BLANKS = String.raw` \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000`;
const NOT_VISIBLE = [
  String.raw`\u0000-\u001f\u007f-\u009f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2`,
  String.raw`\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164`,
  String.raw`\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb`,
].join('');
/** The same for all of Unicode: what names in tokens are cleaned of. Halves of characters have a problem of their own. */
const NOT_VISIBLE_ANYWHERE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;
const NAME_FOR_PEOPLE = `^[${BLANKS}]*[^${BLANKS}${NOT_VISIBLE}][^${NOT_VISIBLE}]*$`;
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
export const displayName = text(
  'name for people: not only blanks, and without control characters and characters that are not visible',
  {
    minLength: 1,
    maxLength: NAME_LENGTH_MAX,
    pattern: NAME_FOR_PEOPLE,
    [REFUSED]: NOT_VISIBLE_ANYWHERE,
  },
);

/** Schemas of all path parameters, by their names. */
export const PARAMETERS = { organizationId, projectId, name: serviceName, subject, email } as const;
export type ParameterName = keyof typeof PARAMETERS;

/** Returns whether an organization may have the id. */
export function isOrganizationId(id: string): boolean {
  return id.length <= ORGANIZATION_ID_LENGTH_MAX && new RegExp(ORGANIZATION_ID_PATTERN).test(id);
}
