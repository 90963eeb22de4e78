import { readFileSync } from 'node:fs'

const lockFile = new URL('../package-lock.json', import.meta.url)

/**
 * The runtime packages in the lock file, without those for development only.
 * @returns for each its path in the project's folder, its name, its version, and whether it is optional
 */
export function runtimePackages() {
  const { packages } = JSON.parse(readFileSync(lockFile, 'utf8'))
  return Object.entries(packages)
    .filter(([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional)
    .map(([path, { version, optional }]) => {
      return { path, name: path.split('node_modules/').pop(), version, isOptional: optional === true }
    })
}
