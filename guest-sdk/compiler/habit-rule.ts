// HabitRule: a rule that gives help for a message of AssemblyScript, and the codes of those messages.

/** Selects messages: every given part must match. */
export interface HabitRule {
  /** Code of the message. */
  readonly code: number;
  /** Matches the message's text. */
  readonly message?: RegExp;
  /** Matches the text of the line before the message's column. */
  readonly before?: RegExp;
  /** Matches the text of the line from the message's column on. */
  readonly after?: RegExp;
  /** Matches the whole line. */
  readonly line?: RegExp;
  readonly help: string;
}

export const NOT_IMPLEMENTED = 100;
export const NO_IMPLICIT_CONVERSION = 200;
export const NOT_NULLABLE = 204;
export const OPTIONAL_WITHOUT_VALUE = 215;
export const LITERAL_OF_CONSTRUCTED = 216;
export const NO_OPTIONAL_MEMBERS = 219;
export const NO_VALUE = 234;
export const IDENTIFIER_EXPECTED = 1003;
export const TOKEN_EXPECTED = 1005;
export const UNEXPECTED_TOKEN = 1012;
export const EXPRESSION_EXPECTED = 1109;
export const TYPE_EXPECTED = 1110;
export const INVALID_CHARACTER = 1127;
export const TYPE_ARGUMENT_EXPECTED = 1140;
export const CONST_WITHOUT_VALUE = 1155;
export const LETTER_AFTER_NUMBER = 1351;
export const NOT_EXPORTED = 2305;
export const NOT_ASSIGNABLE = 2322;
export const NO_INDEX = 2329;
export const NO_SUCH_MEMBER = 2339;
export const NOT_CALLABLE = 2349;
export const MUST_RETURN = 2355;
export const NO_OPERATOR = 2365;
export const NO_IMPLEMENTATION = 2391;
export const ARGUMENT_COUNT = 2554;
export const TYPE_ARGUMENT_COUNT = 2558;
export const NO_INITIALIZER = 2564;
