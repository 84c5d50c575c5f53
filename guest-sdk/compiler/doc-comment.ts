// DocComment: the comment before a handler, for the descriptor: its first sentence is the summary; the whole is the
// description if it has more than the summary.
import type { MethodDeclaration } from 'assemblyscript';
import { DESCRIPTION_LENGTH_MAX, SUMMARY_LENGTH_MAX } from '@svc/contract';

export interface DocComment {
  readonly summary?: string;
  readonly description?: string;
}

const NONE: DocComment = {};

/** Returns the doc comment that ends directly before the method or the first of its decorators. */
export function docCommentOf(method: MethodDeclaration): DocComment {
  const { source } = method.range;
  const starts = [method, ...(method.decorators ?? [])].map(({ range }) => range.start);
  const before = source.text.slice(0, Math.min(...starts)).trimEnd();
  const from = before.lastIndexOf('/**');
  if (!before.endsWith('*/') || from < 0 || before.indexOf('*/', from) < before.length - 2)
    return NONE;
  const text = textIn(before.slice(from + 3, -2));
  const [sentence = ''] = text.split(/(?<=[.!?])\s|\n\n/, 1);
  const summary = shortened(sentence.replace(/\.$/, '').trim(), SUMMARY_LENGTH_MAX);
  if (summary === '') return NONE;
  if (sentence.length === text.length && !summary.endsWith('…')) return { summary };
  return { summary, description: shortened(text, DESCRIPTION_LENGTH_MAX) };
}

/** Joins the lines of each paragraph, and leaves out tags (`@param`) with everything after the first of them. */
function textIn(comment: string): string {
  const lines = comment.split('\n').map((line) => line.replace(/^\s*\*? ?/, '').trim());
  const tag = lines.findIndex((line) => /^@[a-z]/i.test(line));
  return lines
    .slice(0, tag < 0 ? undefined : tag)
    .join('\n')
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim())
    .filter((paragraph) => paragraph !== '')
    .join('\n\n');
}

function shortened(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  return `${text.slice(0, lengthMax - 1).replace(/\s+\S*$|[\uD800-\uDBFF]$/u, '')}…`;
}
