import { getContainerRuntimeClient } from 'testcontainers'

/** A real server for contract suites. */
export type RealServer = { readonly name: string; readonly url: string; stop(): Promise<void> }

/** Whether a container runtime is available. */
export const hasDocker = (): Promise<boolean> =>
  getContainerRuntimeClient().then(
    () => true,
    () => false,
  )
