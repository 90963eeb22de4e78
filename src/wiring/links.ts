import { LinkKeys } from '../commands/installation/link-key.ts'
import { SignedLinks } from '../http/kit/signed-links.ts'
import type { Installation } from './installation.ts'
import { publicUrlsOf } from './settings.ts'

/**
 * Links for a command, with the public address of the service.
 * @throws WrongMasterKey, StoreUnavailable
 */
export async function openLinks({ settings, context, keys }: Installation): Promise<SignedLinks> {
  const linkKeys = await LinkKeys.open(context, keys)
  return new SignedLinks(publicUrlsOf(settings, settings.PORT).base, linkKeys, context.clock)
}
