/**
 * A request target whose path has doubled slashes as one, and none at its end, and nothing before or behind it that names
 * no thing here: `//v4/diamond/?x` → `/v4/diamond?x`. Routes, keys and links then know one name for one thing. What
 * stands behind the `?` is left alone.
 */
export function plainPath(target: string): string {
  const given = isPlain(target) ? target : bare(target)
  if (!given.startsWith('/')) return given
  const query = given.indexOf('?')
  const path = query < 0 ? given : given.slice(0, query)
  if (!path.includes('//') && !(path.length > 1 && path.endsWith('/'))) return given
  const plain = path.replaceAll(/\/{2,}/g, '/')
  const whole = plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain
  return whole + (query < 0 ? '' : given.slice(query))
}

const isPlain = (target: string) => target.startsWith('/') && !target.includes('#')

function bare(target: string): string {
  const path = AUTHORITY.test(target) && URL.canParse(target) ? target.replace(AUTHORITY, '') || '/' : target
  return path.replace(FRAGMENT, '')
}

/** A proxy may write a target with its host before the path (RFC 9112, 3.2.2). */
const AUTHORITY = /^https?:\/\/[^/?#]*/i
const FRAGMENT = /#.*$/s
