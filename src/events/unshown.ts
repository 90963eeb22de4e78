/** Members of payloads that let nobody in, but help whoever guesses: hashes of passwords and tokens, and sealed keys. */
const UNSHOWN: Readonly<Record<string, readonly string[]>> = {
  AccountRegistered: ['password'],
  PasswordChanged: ['password'],
  ApiTokenIssued: ['digest'],
  ClientRegistered: ['secret'],
  ClientSecretRotated: ['secret'],
  SessionOpened: ['digest'],
  TokenRefreshed: ['digest'],
  LinkKeySealed: ['sealed'],
  LogKeySealed: ['sealed'],
  PersonKeySealed: ['sealed'],
  WebhookCreated: ['secret'],
  WebhookSecretRotated: ['secret'],
  WebhookSecretsResealed: ['secrets'],
}

/** What stands in their place, so that a reader sees that there is something. */
export const NOT_SHOWN = '(not shown)'

/** The members of a type's payload that nobody is shown. */
export const unshownMembers = (type: string): readonly string[] =>
  (Object.hasOwn(UNSHOWN, type) ? UNSHOWN[type] : undefined) ?? []

/** An event's payload as people and their tools may see it. */
export function shownData(type: string, data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const unshown = unshownMembers(type)
  if (unshown.length === 0) return data
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, unshown.includes(name) ? NOT_SHOWN : value]),
  )
}
