// RetiredWords are words that the project no longer uses, each with the word to use instead. The words in comments are
// matched as they stand there; the words in identifiers are matched without their position in the name.

export interface RetiredWord {
  /** Matches the word in a comment or in an identifier. */
  readonly word: RegExp;
  readonly instead: string;
}

/** First words of a comment that has no subject. */
export const FRAGMENTS: readonly RetiredWord[] = [
  { word: /^Of\b/, instead: 'a noun: "Checksum of …"' },
  { word: /^That\b(?! is\b)/, instead: 'a noun or a verb: "Appends that …"' },
  { word: /^Who(?:ever)?\b/, instead: 'the role: "The caller …", "The operator …"' },
  { word: /^Whose\b/, instead: 'a noun: "The entity whose …"' },
  { word: /^What\b/, instead: 'a noun: "The data that …"' },
  { word: /^By (?:its|their|the)\b/, instead: '"Indexed by …"' },
  { word: /^As who\b/, instead: '"For operators: …"' },
  { word: /^So (?:many|much|long)\b/, instead: 'a noun: "The number of …"' },
];

/** Words in comments. */
export const COMMENT_WORDS: readonly RetiredWord[] = [
  { word: /\bthe one order\b/i, instead: 'commit order' },
  { word: /\b(?:brings?|brought) (?:\w+ )?on\b/i, instead: 'compact' },
  { word: /\bkept answers?\b/i, instead: 'stored reply' },
  { word: /\bunread manifests?\b/i, instead: 'unknown event type' },
  {
    word: /\bplace of (?:a|each|the) records?\b|\bplaces\b/i,
    instead: 'index entry, position, source location, handler index',
  },
  { word: /\bwho looks on\b/i, instead: 'introspection client' },
  { word: /\b(?:foreseen|came true)\b/i, instead: 'speculative result, confirmed' },
  { word: /\b(?:surroundings)\b/i, instead: 'HostInputs, dependencies, callbacks' },
  { word: /\bputs? back\b/i, instead: 'restore' },
  { word: /\b(?:is|are|was|were) told\b|\btells\b/i, instead: 'report, send, receive' },
  { word: /\b(?:hears|heard)\b/i, instead: 'receive, onMessage' },
  { word: /\bwhat is more\b/i, instead: 'also' },
  { word: /\bheld back\b/i, instead: 'backed off' },
  { word: /\b(?:mend|mends|mended)\b/i, instead: 'fix' },
  { word: /\bleans? on\b/i, instead: 'depend on' },
];

/**
 * Names in the contract's JSON: members of values, and definitions of its schemas. Properties may have these names, but
 * variables may not.
 */
export const JSON_MEMBERS: ReadonlySet<string> = new Set(['places', 'SourcePlace']);

/** Words in identifiers. */
export const IDENTIFIER_WORDS: readonly RetiredWord[] = [
  {
    word: /^(?:eno|ano|mno)$|(?:^|#|[a-z])(?:Eno|Ano|Mno)$/,
    instead: 'entityNo, replyNo, moduleNo',
  },
  {
    word: /^#?[Pp]laces?$|Place(?:s|d)?(?![a-z])|^#?places?Of$/,
    instead: 'handler index, index entry, position, source location',
  },
  {
    word: /^#?tell$|^#?told$|^#?isTold$|^#?hear$|^#?said$/,
    instead: 'report, send, isReported, onMessage',
  },
  { word: /KeptAnswers?|AnswerToKeep/, instead: 'StoredReply, ReplyToStore' },
  {
    word: /^#?(?:callAhead|isAhead|cameTrue|foreseen)$/,
    instead: 'speculate, isSpeculative, isConfirmed',
  },
  { word: /Surroundings|^Around/, instead: 'HostInputs, …Dependencies, …Callbacks' },
  { word: /^#?giveUp$/, instead: 'cancel' },
  { word: /^#?putBack$/, instead: 'restore' },
  { word: /PromptInstance/, instead: 'non-suspending instance' },
  {
    word: /^#?(?:entrance|gates)$|^(?:Entrance|Gates)/,
    instead: 'authentication, authorization',
  },
  { word: /[Rr]eadmission/, instead: 'reauthorization' },
  { word: /TokenJudge|JudgedToken|judgedTokens/, instead: 'TokenVerifier, TokenCache' },
];
