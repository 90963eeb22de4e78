/**
 * A request target whose path has doubled slashes as one, and none at its end: `//v4/diamond/?x` → `/v4/diamond?x`.
 * Routes, keys and links then know one name for one thing. What stands behind the `?` is left alone.
 */
export function plainPath(target: string): string {
  const query = target.indexOf('?')
  const path = query < 0 ? target : target.slice(0, query)
  if (!path.includes('//') && !(path.length > 1 && path.endsWith('/'))) return target
  const authority = AUTHORITY.exec(path)?.[0] ?? ''
  const plain = path.slice(authority.length).replaceAll(/\/{2,}/g, '/')
  const whole = plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain
  return authority + whole + (query < 0 ? '' : target.slice(query))
}

/** A proxy may write a target with its host before the path (RFC 9112, 3.2.2). */
const AUTHORITY = /^https?:\/\/[^/]*/i
