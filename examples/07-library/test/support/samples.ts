// Books and days that the tests use.

export const DUNE = '9780441013593';
export const EMMA = '9780141439587';
export const UNKNOWN = '9780000000002';

export const DESCRIPTIONS = {
  [DUNE]: {
    name: 'Dune',
    author: 'Frank Herbert',
    genre: 'Fiction',
    published: '1965-08-01T00:00:00.000Z',
  },
  [EMMA]: {
    name: 'Emma',
    author: 'Jane Austen',
    genre: 'Fiction',
    published: '1815-12-23T00:00:00.000Z',
  },
} as const;

/** The day that is so many days after 2026 began, at midnight. */
export function dayOf(number: number): string {
  return new Date(Date.UTC(2026, 0, 1 + number)).toISOString();
}
