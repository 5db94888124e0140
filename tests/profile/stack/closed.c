/*
 * A shared object is closed, and another one opened, most often at the same
 * addresses: calls from the second are its own, and what is known of the first
 * stays: its sites, its path and its build-id.
 */
#include "oracle.h"

static uint32_t site;

__attribute__((noinline)) static void wrapper(void)
{
    sw_caller_t from = SW_CALLER();
    site = sw_site(&from);
}

static bool is_from(const char *name)
{
    if (!site)
        return false;
    const sw_site_t *s = sw_table_row(&sw_sites, site);
    const sw_frame_t *f = sw_table_row(&sw_frames, s->frames[0]);
    if (!f->place)
        return false;
    const sw_module_t *m = sw_table_row(&sw_modules, f->place);
    return strstr(m->path, name) != NULL;
}

/* Opens the plugin, calls through it, closes it; where its code was. */
static uintptr_t visit(const char *path, const char *name)
{
    void *plugin = dlopen(path, RTLD_NOW);
    if (!plugin)
        fprintf(stderr, "%s\n", dlerror());
    must(plugin);
    void (*call)(void (*)(void));
    *(void **)&call = dlsym(plugin, "call");
    must(call);
    for (int i = 0; i < 3; i++) {
        call(wrapper);
        must(is_from(name));
        const sw_site_t *s = sw_table_row(&sw_sites, site);
        must(s->natives == 3); /* the plugin, visit, its caller */
    }
    must(dlclose(plugin) == 0);
    return (uintptr_t)call;
}

int main(void)
{
    must(sw_site_depth(3));
    uintptr_t one = visit(PLUGIN_1, "plugin_1");
    uint32_t first = site;
    sw_sites_closed();
    uintptr_t two = visit(PLUGIN_2, "plugin_2");
    must(site != first);
    printf("%s addresses\n", one == two ? "the same" : "other");
    sw_sites_closed();

    /* Opened again it is the same module; its site is the same one. */
    site = 0;
    void *elsewhere = dlopen(PLUGIN_2, RTLD_NOW);
    uintptr_t again = visit(PLUGIN_1, "plugin_1");
    must(dlclose(elsewhere) == 0);
    printf("%s addresses\n", one == again ? "the same" : "other");

    /* No call reports the close: the recorder sees it soon, and it does no
     * harm until then. */
    void *plugin = dlopen(PLUGIN_2, RTLD_NOW);
    void (*call)(void (*)(void));
    *(void **)&call = dlsym(plugin, "call");
    for (int i = 0; i <= SW_SITE_CHECK; i++)
        call(wrapper);
    must(is_from("plugin_2"));
    must(dlclose(plugin) == 0);

    const sw_site_t *s = sw_table_row(&sw_sites, first);
    const sw_frame_t *f = sw_table_row(&sw_frames, s->frames[0]);
    const sw_module_t *m = sw_table_row(&sw_modules, f->place);
    must(strstr(m->path, "plugin_1"));
    int modules[2] = {0, 0};
    for (uint32_t i = 1; i <= sw_table_rows(&sw_modules); i++) {
        m = sw_table_row(&sw_modules, i);
        modules[0] += strstr(m->path, "plugin_1") != NULL;
        modules[1] += strstr(m->path, "plugin_2") != NULL;
        must(strlen(m->build_id) % 2 == 0);
    }
    must(modules[0] == 1 && modules[1] == 1);
    return 0;
}
