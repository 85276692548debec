/* Stands for the agent's library: it prints each mark. */
#include <stdint.h>
#include <stdio.h>

void tare_agent_mark(uint32_t kind, uint64_t id, const char *label)
{
    printf("%u %llu %s\n", kind, (unsigned long long)id, label ? label : "-");
    fflush(stdout);
}
