import { isObject, kindOf } from '../../domain/diamond/input.ts'
import { OAuthError } from './errors.ts'

/**
 * Names and values of a JSON object of texts, one that stands twice twice: of two a parser keeps the last without a word.
 * null counts as a parameter without a value.
 * @param json what the text was parsed to
 * @throws OAuthError for what is no object, or has another value than a text
 */
export function textsIn(json: unknown, text: string): (readonly [name: string, value: string])[] {
  if (!isObject(json)) throw new OAuthError('invalid_request', `The body must be a JSON object, got ${kindOf(json)}`)
  for (const [name, value] of Object.entries(json)) {
    if (typeof value === 'string' || value === null) continue
    throw new OAuthError('invalid_request', `${name.slice(0, 40)} must be a text, got ${kindOf(value)}`)
  }
  return namesIn(text).map((name) => [name, String(json[name] ?? '')])
}

/** In JSON a text before a colon is a member's name, and stands nowhere else. */
const namesIn = (text: string): string[] =>
  [...text.matchAll(TEXT)].filter(([, colon]) => colon !== undefined).map(([found]) => nameOf(found))

const TEXT = /"(?:[^"\\]|\\.)*"(\s*:)?/g

const nameOf = (found: string) => String(JSON.parse(found.slice(0, found.lastIndexOf('"') + 1)))
