// What a rule about a message of AssemblyScript's says, and the codes of the messages that rules are about.

/** Selects the messages that a rule is about: every part that is given must match. */
export interface HabitRule {
  /** The message's code. */
  readonly code: number;
  readonly message?: RegExp;
  /** The line's text before what the message is about. */
  readonly before?: RegExp;
  /** The line's text from there on. */
  readonly after?: RegExp;
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
