/**
 * Log, vault and files are one installation. Vault and files have an identity each, made with them; the log says which are
 * its own.
 */

/** The stream of it. It is no part of what a move copies: the target's are others. */
export const STORES_STREAM = 'stores'

/** Identities of a vault and of files, and where they were, for people. */
export type Joined = { readonly vault: string; readonly files: string; readonly place: string }

/** From here on these are the log's. */
export type StoresJoined = { readonly type: 'StoresJoined'; readonly data: Joined }

/** Whether what is at hand is what the log has for its own. */
export const belongsWith = (known: Joined, found: Joined): boolean =>
  known.vault === found.vault && known.files === found.files

/** A vault that was lost beside its files is made anew, without what waited in it; files that were lost are not. */
export const hasLostVault = (known: Joined, found: Joined): boolean =>
  known.vault !== found.vault && known.files === found.files
