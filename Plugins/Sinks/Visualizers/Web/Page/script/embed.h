// Embeds the page script, which has several parts. Included by Libraries/CWebPage/CWebPage.c.
    if (number-- == 0) {
        static const unsigned char bytes[] = {
#embed "intro.js"
            ,
#embed "encoding.js"
            ,
#embed "errors.js"
            ,
#embed "window.js"
            ,
#embed "clocks.js"
            ,
#embed "interface.js"
            ,
#embed "connection.js"
            ,
#embed "visualizer.js"
            ,
#embed "handlers.js"
            ,
#embed "calls.js"
            ,
#embed "outro.js"
        };
        return (cwebpage_file){"hemiola.js", bytes, sizeof bytes};
    }
