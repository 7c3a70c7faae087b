// The page of the web sink: the file of the main package, compiled for this package too.
#include "../../../Libraries/CWebPage/CWebPage.c"
