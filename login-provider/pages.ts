// Pages: the HTML of the login provider. No page has a script, and every text that comes from elsewhere is escaped.
import { createHash } from 'node:crypto';
import type { Account } from './people-file.ts';

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 26rem; margin: 3rem auto; padding: 0 1rem }
button { display: block; width: 100%; margin: .5rem 0; padding: .6rem .8rem; font: inherit; text-align: left; cursor: pointer }
input { display: block; width: 100%; box-sizing: border-box; padding: .6rem .8rem; font: inherit; text-transform: uppercase }
small { display: block; opacity: .7; overflow-wrap: anywhere }
.warning { border-left: .3rem solid #d90; padding-left: .7rem }
`;

/**
 * Headers of every response. Forms may lead to the command line, which listens on a port of its own choice: browsers
 * also check the redirects that follow a form.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
    "form-action 'self' http://127.0.0.1:*",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

export interface LoginPage {
  /** Path to which the form is sent. */
  readonly action: string;
  /** Value that proves that the form is from this page. */
  readonly formToken: string;
  /** Client that wants a person to log in. */
  readonly client: string;
  readonly people: ReadonlyMap<string, Account>;
}

export function loginPage({ action, formToken, client, people }: LoginPage): string {
  const buttons = [...people].map(([subject, { name = subject, email, roles = [] }]) => {
    const details = [subject, email, roles.join(', ')].filter(Boolean).join(' · ');
    return `<button name="as" value="${escaped(subject)}">${escaped(name)}<small>${escaped(details)}</small></button>`;
  });
  return page(
    'Log in as',
    `<p>${escaped(client)} asks who you are.</p>
<form method="post" action="${escaped(action)}">
<input type="hidden" name="token" value="${escaped(formToken)}">
${buttons.join('\n')}
</form>`,
  );
}

export interface CodePage {
  readonly action: string;
  /** Value that oidc-provider compares with its session. */
  readonly formToken: string;
  /** Code that is filled in. */
  readonly code: string;
  /** The reason for asking again; undefined on the first time. */
  readonly problem: string | undefined;
}

export function codePage({ action, formToken, code, problem }: CodePage): string {
  return page(
    'Enter the code',
    `<p>${escaped(problem ?? 'Continue only if the command line on your own machine shows this code.')}</p>
<form method="post" action="${escaped(action)}">
<input type="hidden" name="xsrf" value="${escaped(formToken)}">
<input type="hidden" name="confirm" value="yes">
<input name="user_code" value="${escaped(code)}" aria-label="Code" autocomplete="off" autofocus required maxlength="20">
<button>Continue</button>
</form>`,
  );
}

export function noticePage(title: string, text: string): string {
  return page(title, `<p>${escaped(text)}</p>`);
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title><style>${STYLE}</style></head>
<body>
<h1>${escaped(title)}</h1>
${body}
<p class="warning"><small>This login provider is for development only. It asks for no password.</small></p>
</body>
</html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);
}
